#!/usr/bin/env python3
"""A desktop's notification service on the session bus: writes what is shown as JSON lines, and presses what it is told to.

    in   {"press": 1, "action": "approve-moz"}
    out  {"ready": true}
         {"id": 1, "summary": "…", "body": "…", "actions": ["default", "…", "approve-moz", "Approve"], "replaces": 0}
"""
import json
import sys
import threading

from gi.repository import Gio, GLib

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
INTERFACE = f"""<node><interface name="{NAME}">
  <method name="GetCapabilities"><arg type="as" direction="out"/></method>
  <method name="GetServerInformation"><arg type="s" direction="out"/><arg type="s" direction="out"/>
    <arg type="s" direction="out"/><arg type="s" direction="out"/></method>
  <method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
    <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
    <arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
  <method name="CloseNotification"><arg type="u" direction="in"/></method>
  <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
  <signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
</interface></node>"""


def say(what):
    print(json.dumps(what), flush=True)


class Desktop:
    def __init__(self, connection):
        self.connection, self.last = connection, 0
        connection.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], self.call, None, None)

    def call(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        answer = getattr(self, method)(*parameters.unpack())
        invocation.return_value(answer)

    def GetCapabilities(self):
        return GLib.Variant("(as)", (["actions", "body", "persistence"],))

    def GetServerInformation(self):
        return GLib.Variant("(ssss)", ("stand-in", "holdpoint", "1", "1.2"))

    def Notify(self, _program, replaces, _icon, summary, body, actions, _hints, _timeout):
        self.last = replaces or self.last + 1
        say({"id": self.last, "summary": summary, "body": body, "actions": actions, "replaces": replaces})
        return GLib.Variant("(u)", (self.last,))

    def CloseNotification(self, id):
        self.emit("NotificationClosed", GLib.Variant("(uu)", (id, 3)))

    def emit(self, signal, values):
        self.connection.emit_signal(None, PATH, NAME, signal, values)

    def press(self, id, action):
        self.emit("ActionInvoked", GLib.Variant("(us)", (id, action)))
        self.emit("NotificationClosed", GLib.Variant("(uu)", (id, 2)))


def main():
    loop, desktop = GLib.MainLoop(), []
    Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE,
                     lambda connection, _name: desktop.append(Desktop(connection)),
                     lambda _connection, _name: say({"ready": True}),
                     lambda _connection, _name: sys.exit("the name is taken"))

    def read():
        for line in sys.stdin:
            told = json.loads(line)
            GLib.idle_add(lambda told=told: desktop[0].press(told["press"], told["action"]))
        GLib.idle_add(loop.quit)

    threading.Thread(target=read, daemon=True).start()
    loop.run()


if __name__ == "__main__":
    main()
