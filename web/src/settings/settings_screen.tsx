import { useState, type FormEvent, type ReactNode } from 'react'
import { client } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { signOut, useMe } from '../state/session'
import { useSettings, type Hold, type Theme } from '../state/settings'
import { tell } from '../state/notices'
import { PageHead } from '../ui/parts'
import { Passkeys, PushSettings, Sessions } from './devices'

function Block({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-x-8 gap-y-3 border-t border-line py-6 md:grid-cols-[12rem_1fr]">
      <h2 className="text-[0.9375rem]">{title}</h2>
      <div>{children}</div>
    </section>
  )
}

function Switch({ label, hint, is_on, onChange }: { label: string; hint: string; is_on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label className="mb-4 flex cursor-pointer items-start gap-3 last:mb-0">
      <input type="checkbox" className="mt-1 size-4 shrink-0 accent-accent" checked={is_on} onChange={(event) => onChange(event.target.checked)} />
      <span>
        <span className="block font-medium">{label}</span>
        <span className="block text-[0.875rem] text-soft">{hint}</span>
      </span>
    </label>
  )
}

function Choice({ name, label, is_on, onPick }: { name: string; label: string; is_on: boolean; onPick: () => void }) {
  return (
    <label className="flex min-h-9 cursor-pointer items-center gap-2 rounded-lg border border-line px-3 has-checked:border-accent has-checked:bg-pick">
      <input type="radio" name={name} className="accent-accent" checked={is_on} onChange={onPick} />
      {label}
    </label>
  )
}

const holds: [Hold, string][] = [['risky', 'High risk, and several at once'], ['all', 'Everything'], ['off', 'Nothing']]
const themes: [Theme, string][] = [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']]

function Password() {
  const me = useMe()
  const [current, setCurrent] = useState('')
  const [fresh, setFresh] = useState('')
  const [error, setError] = useState<string | null>(null)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setError(null)
    try {
      await client.setPassword(me.name, { password: fresh, ...(current ? { current } : {}) })
      tell('Your password is set. Sign in again with it.', { tone: 'good' })
    } catch (caught) {
      setError(sentence(caught))
    }
  }
  return (
    <form className="grid max-w-sm gap-3" onSubmit={save}>
      <input type="text" hidden readOnly autoComplete="username" value={me.name} />
      <div>
        <label htmlFor="current" className="label mb-1 block">
          Current password, if you have one
        </label>
        <input id="current" type="password" className="field" autoComplete="current-password" value={current} onChange={(event) => setCurrent(event.target.value)} />
      </div>
      <div>
        <label htmlFor="fresh" className="label mb-1 block">
          New password, at least ten characters
        </label>
        <input id="fresh" type="password" className="field" autoComplete="new-password" minLength={10} required value={fresh} onChange={(event) => setFresh(event.target.value)} />
      </div>
      {error && (
        <p role="alert" className="m-0 text-no">
          {error}
        </p>
      )}
      <div>
        <button type="submit" className="btn">
          Set the password
        </button>
        <p className="mb-0 mt-2 text-[0.875rem] text-faint">It ends your sessions everywhere, this one too.</p>
      </div>
    </form>
  )
}

export default function SettingsScreen() {
  const me = useMe()
  const { theme, shortcuts, compact, grouping, hold, change } = useSettings()
  return (
    <main id="main" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
      <div className="mx-auto max-w-3xl px-5 py-8 md:px-8">
        <PageHead title="Settings" />
        <Block title="Appearance">
          <fieldset className="m-0 mb-5 border-0 p-0">
            <legend className="mb-1.5 p-0 font-medium">Theme</legend>
            <div className="flex flex-wrap gap-2">
              {themes.map(([name, label]) => (
                <Choice key={name} name="theme" label={label} is_on={theme === name} onPick={() => change({ theme: name })} />
              ))}
            </div>
          </fieldset>
          <Switch label="Compact list" hint="One line for each request." is_on={compact} onChange={(on) => change({ compact: on })} />
          <Switch label="Group similar requests" hint="Three or more of one agent for one tool become one row with a table." is_on={grouping} onChange={(on) => change({ grouping: on })} />
        </Block>
        <Block title="Keyboard">
          <Switch
            label="Single-key shortcuts"
            hint="Switch them off if you speak to your computer, or if a stray key worries you. Arrow keys, Tab and Enter keep working."
            is_on={shortcuts}
            onChange={(on) => change({ shortcuts: on })}
          />
        </Block>
        <Block title="Second thoughts">
          <fieldset className="m-0 border-0 p-0">
            <legend className="mb-1.5 p-0 font-medium">Hold what I approve for five seconds</legend>
            <div className="flex flex-wrap gap-2">
              {holds.map(([name, label]) => (
                <Choice key={name} name="hold" label={label} is_on={hold === name} onPick={() => change({ hold: name })} />
              ))}
            </div>
            <p className="mb-0 mt-2 text-[0.875rem] text-soft">Until then Undo, or the key z, takes it back. A no counts at once.</p>
          </fieldset>
        </Block>
        <Block title="Notifications">
          <PushSettings />
        </Block>
        <Block title="Passkeys">
          <Passkeys />
        </Block>
        <Block title="Signed in">
          <Sessions />
        </Block>
        <Block title="Password">
          <Password />
        </Block>
        <Block title="You">
          <p className="m-0 mb-3">
            {visibleText(me.name)}, {me.role}
            {me.groups.length > 0 && <span className="text-soft"> in {visibleText(me.groups.join(', '))}</span>}
          </p>
          <button type="button" className="btn" onClick={() => void signOut()}>
            Sign out
          </button>
        </Block>
      </div>
    </main>
  )
}
