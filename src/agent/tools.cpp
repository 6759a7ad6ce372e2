#include <fmt/format.h>
#include <holdpoint/tools.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/beneath.h"
#include "agent/http.h"
#include "agent/process.h"
#include "base/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t output_bytes_max = 64 * 1024;

Json text_schema(const std::vector<std::string>& names) {
    Json properties = Json::object();
    for (const std::string& name : names)
        properties = properties.with(name, Json::object({{"type", "string"}}));
    return Json::object(
        {{"type", "object"}, {"properties", properties}, {"required", Json::texts(names)}});
}

/// Text for a model: what is no UTF-8 is made visible, what is long is cut.
std::string shown(std::string_view bytes) {
    std::string text = is_utf8(bytes) ? std::string(bytes) : visible(bytes, Newlines::keep);
    return cut_utf8(text, output_bytes_max);
}

Error failed(std::string_view what) {
    return {ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<Json> read_file(const std::string& folder, const Json& arguments) {
    const Result<agent::Descriptor> file =
        agent::open_beneath(folder, arguments["path"].text_or(""), agent::Access::read);
    if (!file) return file.error();
    std::string bytes(output_bytes_max + 1, '\0');
    const ssize_t count = ::read(file->get(), bytes.data(), bytes.size());
    if (count < 0) return failed("it cannot be read");
    bytes.resize(static_cast<std::size_t>(count));
    return Json::object({{"content", shown(bytes)}, {"is_cut", bytes.size() > output_bytes_max}});
}

Result<Json> write_file(const std::string& folder, const Json& arguments) {
    const std::string content = arguments["content"].text_or("");
    const Result<agent::Descriptor> file =
        agent::open_beneath(folder, arguments["path"].text_or(""), agent::Access::replace);
    if (!file) return file.error();
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t count = ::write(file->get(), content.data() + done, content.size() - done);
        if (count <= 0) return failed("it cannot be written");
        done += static_cast<std::size_t>(count);
    }
    return Json::object({{"written", content.size()}});
}

Result<Json> list_files(const std::string& folder, const Json& arguments) {
    const Result<agent::Descriptor> opened =
        agent::open_beneath(folder, arguments["path"].text_or("."), agent::Access::list);
    if (!opened) return opened.error();
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(
             fmt::format("/proc/self/fd/{}", opened->get()), ignored))
        names.push_back(shown(entry.path().filename().string()) +
                        (entry.is_directory(ignored) ? "/" : ""));
    std::sort(names.begin(), names.end());
    return Json::texts(names);
}

Result<Json> tool_answer(const Result<agent::HttpReply>& reply) {
    if (!reply) return reply.error();
    return Json::object({{"status", reply->status}, {"body", shown(reply->body)}});
}

}  // namespace

Tool bash_tool(std::string folder, std::chrono::milliseconds timeout) {
    Tool tool;
    tool.name = "bash";
    tool.description = "Runs a command line with bash and gives its output and exit code.";
    tool.schema = text_schema({"command"});
    tool.facts = {.risk = RiskLevel::medium,
                  .is_destructive = true,
                  .is_open_world = true,
                  .is_reversible = false};
    tool.describe = [](const Json& arguments) {
        return "Run: " + arguments["command"].text_or("");
    };
    tool.run = [folder = std::move(folder), timeout](const Json& arguments,
                                                     ToolContext& context) -> Result<Json> {
        Result<agent::Finished> finished =
            agent::run_process({"/bin/bash", "-c", arguments["command"].text_or("")},
                               {.folder = folder,
                                .timeout = timeout,
                                .output_bytes_max = output_bytes_max,
                                .stop = context.stop});
        if (!finished) return finished.error();
        return Json::object({{"exit_code", finished->exit_code},
                             {"output", shown(finished->output)},
                             {"is_killed", finished->is_killed}});
    };
    return tool;
}

std::vector<Tool> file_tools(std::string folder) {
    Tool read{.name = "read_file",
              .description = "Reads a text file.",
              .schema = text_schema({"path"}),
              .facts = {.is_read_only = true}};
    read.run = [folder](const Json& arguments, ToolContext&) {
        return read_file(folder, arguments);
    };
    Tool list{.name = "list_files",
              .description = "Lists the files of a folder.",
              .schema = text_schema({"path"}),
              .facts = {.is_read_only = true}};
    list.run = [folder](const Json& arguments, ToolContext&) {
        return list_files(folder, arguments);
    };
    Tool write{.name = "write_file",
               .description = "Writes a text file; what was in it is lost.",
               .schema = text_schema({"path", "content"}),
               .facts = {.risk = RiskLevel::medium, .is_destructive = true}};
    write.describe = [](const Json& arguments) {
        return fmt::format("Write {} bytes to {}", arguments["content"].text_or("").size(),
                           arguments["path"].text_or(""));
    };
    write.run = [folder](const Json& arguments, ToolContext&) {
        return write_file(folder, arguments);
    };
    Tool remove{.name = "delete_file",
                .description = "Deletes a file.",
                .schema = text_schema({"path"}),
                .facts = {.risk = RiskLevel::high, .is_destructive = true, .is_reversible = false}};
    remove.describe = [](const Json& arguments) {
        return "Delete " + arguments["path"].text_or("") + " for good";
    };
    remove.run = [folder](const Json& arguments, ToolContext&) -> Result<Json> {
        if (Result<void> ok = agent::remove_beneath(folder, arguments["path"].text_or("")); !ok)
            return ok.error();
        return Json("deleted");
    };
    return {read, list, write, remove};
}

std::vector<Tool> http_tools(std::chrono::milliseconds timeout) {
    const auto engine = std::make_shared<agent::HttpEngine>();
    Tool get{.name = "http_get",
             .description = "Fetches a web address.",
             .schema = text_schema({"url"}),
             .facts = {.is_open_world = true}};
    get.run = [engine, timeout](const Json& arguments, ToolContext& context) {
        return tool_answer(
            engine->call({.url = arguments["url"].text_or(""), .timeout = timeout}, context.stop));
    };
    Tool post{.name = "http_post",
              .description = "Sends a body to a web address.",
              .schema = text_schema({"url", "body"}),
              .facts = {.risk = RiskLevel::high,
                        .is_destructive = true,
                        .is_open_world = true,
                        .is_reversible = false}};
    post.describe = [](const Json& arguments) {
        return "Send a POST request to " + arguments["url"].text_or("");
    };
    post.run = [engine, timeout](const Json& arguments, ToolContext& context) {
        return tool_answer(engine->call({.method = "POST",
                                         .url = arguments["url"].text_or(""),
                                         .headers = {"Content-Type: application/json"},
                                         .body = arguments["body"].text_or(""),
                                         .timeout = timeout},
                                        context.stop));
    };
    return {get, post};
}

}  // namespace holdpoint
