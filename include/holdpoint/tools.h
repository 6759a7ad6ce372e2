#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <holdpoint/tool.h>

namespace holdpoint {

// Tools for agents that work on a machine. Each says of itself what policy should know.

/// `bash`: runs a command line in `folder`. It can do anything that this process can, so policy
/// should hold it; what it prints is cut after 64 KiB. It has ended when its output is closed, also
/// by what it put into the background; after `timeout` it is killed. Nothing that it started lives
/// on, in whatever group or session, unless it goes out of its way and kills the process above it.
Tool bash_tool(std::string folder, std::chrono::milliseconds timeout = std::chrono::minutes(2));

/// `read_file`, `list_files`, `write_file`, `delete_file` below `folder`. A path that leads out of
/// it, also by a symbolic link, is refused.
std::vector<Tool> file_tools(std::string folder);

/// `http_get` and `http_post`, without redirects; what comes back is cut after 64 KiB.
std::vector<Tool> http_tools(std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace holdpoint
