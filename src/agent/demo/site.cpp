#include "agent/demo/site.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace holdpoint::agent {
namespace {

constexpr const char* everything = R"sql(
DROP TABLE IF EXISTS posts; DROP TABLE IF EXISTS pages; DROP TABLE IF EXISTS sections;
DROP TABLE IF EXISTS images; DROP TABLE IF EXISTS orders; DROP TABLE IF EXISTS messages;
CREATE TABLE posts (slug TEXT PRIMARY KEY, title TEXT NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE pages (page TEXT PRIMARY KEY, title TEXT NOT NULL, is_draft INTEGER NOT NULL) STRICT;
CREATE TABLE sections (page TEXT NOT NULL, title TEXT NOT NULL) STRICT;
CREATE TABLE images (name TEXT PRIMARY KEY, used_in TEXT NOT NULL) STRICT;
CREATE TABLE orders (id TEXT PRIMARY KEY, customer TEXT NOT NULL, paid INTEGER NOT NULL,
                     refunded INTEGER NOT NULL) STRICT;
CREATE TABLE messages (recipient TEXT NOT NULL, text TEXT NOT NULL) STRICT;
INSERT INTO posts VALUES ('spring-sale', 'Spring sale', 'draft'), ('welcome', 'Welcome', 'published'),
  ('old-news', 'News of last year', 'published'), ('opening-hours', 'Opening hours', 'published');
INSERT INTO pages VALUES ('about', 'About us', 1), ('test', 'Test page', 1), ('landing-old', 'Old landing', 1),
  ('home', 'Home', 0);
INSERT INTO sections VALUES ('about', 'Who we are'), ('about', 'Where we are'), ('about', 'Contact'), ('home', 'Hello');
INSERT INTO images VALUES ('banner.png', ''), ('logo.png', 'home');
INSERT INTO orders VALUES ('1234', 'Ms Winter', 50000, 0), ('1235', 'Mr Summer', 1200, 0), ('1236', 'Ms Autumn', 800, 0);
)sql";

Error site_failed(sqlite3* database) {
    return {ErrorCode::unavailable, fmt::format("the site: {}", sqlite3_errmsg(database))};
}

void bind(sqlite3_stmt* statement, int at, const Json& value) {
    if (const std::optional<std::int64_t> number = value.integer())
        sqlite3_bind_int64(statement, at, *number);
    else if (const std::optional<std::string> text = value.text())
        sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()),
                          SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, at);
}

Json column(sqlite3_stmt* statement, int at) {
    switch (sqlite3_column_type(statement, at)) {
        case SQLITE_INTEGER:
            return sqlite3_column_int64(statement, at);
        case SQLITE_TEXT:
            return reinterpret_cast<const char*>(sqlite3_column_text(statement, at));
        default:
            return {};
    }
}

Json schema_of(const std::vector<std::pair<std::string, std::string>>& fields) {
    Json properties = Json::object();
    std::vector<std::string> names;
    for (const auto& [name, type] : fields) {
        properties = properties.with(name, Json::object({{"type", type}}));
        names.push_back(name);
    }
    return Json::object(
        {{"type", "object"}, {"properties", properties}, {"required", Json::texts(names)}});
}

/// A tool that is one statement; its arguments are bound in the order of its fields.
Tool statement_tool(const std::shared_ptr<Site>& site, const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& fields,
                    const std::string& sql, ToolFacts facts) {
    Tool tool;
    tool.name = name;
    tool.schema = schema_of(fields);
    tool.facts = std::move(facts);
    tool.run = [site, fields, sql](const Json& arguments, ToolContext&) -> Result<Json> {
        std::vector<Json> values;
        for (const auto& [field, type] : fields) values.push_back(arguments[field]);
        return site->query(sql, values);
    };
    return tool;
}

std::function<std::string(const Json&)> words(std::string before, std::string field,
                                              std::string after) {
    return [before = std::move(before), field = std::move(field), after = std::move(after)](
               const Json& arguments) { return before + arguments[field].text_or("?") + after; };
}

Tool delete_page(const std::shared_ptr<Site>& site) {
    Tool tool;
    tool.name = "cms_deletePage";
    tool.description = "Deletes a page and all its sections; confirmed in the conversation.";
    tool.schema = schema_of({{"page", "string"}});
    tool.facts.risk = RiskLevel::low;
    tool.preview = [site](const Json& arguments) -> Result<Json> {
        const Result<Json> page =
            site->query("SELECT title FROM pages WHERE page = ?", {arguments["page"]});
        const Result<Json> sections =
            site->query("SELECT title FROM sections WHERE page = ?", {arguments["page"]});
        if (!page || !sections || page->size() == 0)
            return Error{ErrorCode::not_found, "There is no such page."};
        return Json(fmt::format("deletes the page \"{}\" with its {} sections for good",
                                (*page)[0]["title"].text_or(""), sections->size()));
    };
    tool.run = [site](const Json& arguments, ToolContext&) -> Result<Json> {
        const Result<Json> sections =
            site->query("DELETE FROM sections WHERE page = ?", {arguments["page"]});
        if (!sections) return sections;
        return site->query("DELETE FROM pages WHERE page = ?", {arguments["page"]});
    };
    return tool;
}

Tool find_order(const std::shared_ptr<Site>& site) {
    return statement_tool(site, "find_order", {{"orderId", "string"}},
                          "SELECT * FROM orders WHERE id = ?", {.is_read_only = true});
}

}  // namespace

Result<std::shared_ptr<Site>> Site::open(const std::string& path) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open(path.c_str(), &database);
    std::shared_ptr<Site> site(new Site(database));
    if (code != SQLITE_OK)
        return Error{ErrorCode::unavailable, fmt::format("the site `{}` cannot be opened", path)};
    if (Result<void> ok = site->execute(everything); !ok) return ok.error();
    return site;
}

Site::~Site() { sqlite3_close(database_); }

Result<void> Site::execute(const std::string& sql) {
    const std::lock_guard lock(mutex_);
    const std::string whole = fmt::format("BEGIN; {}; COMMIT;", sql);
    if (sqlite3_exec(database_, whole.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    const Error error = site_failed(database_);
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    return error;
}

Result<Json> Site::query(const std::string& sql, const std::vector<Json>& values) {
    const std::lock_guard lock(mutex_);
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
        return site_failed(database_);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    for (std::size_t i = 0; i < values.size(); ++i)
        bind(statement.get(), static_cast<int>(i) + 1, values[i]);
    std::vector<Json> rows;
    int code = 0;
    while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
        Json row = Json::object();
        for (int i = 0; i < sqlite3_column_count(statement.get()); ++i)
            row = row.with(sqlite3_column_name(statement.get(), i), column(statement.get(), i));
        rows.push_back(std::move(row));
    }
    if (code != SQLITE_DONE) return site_failed(database_);
    if (sqlite3_column_count(statement.get()) > 0) return Json::array(rows);
    const int changed = sqlite3_changes(database_);
    if (changed == 0) return Error{ErrorCode::not_found, "nothing on the site fits"};
    return Json::object({{"changed", changed}});
}

Toolbox editor_tools(const std::shared_ptr<Site>& site) {
    const ToolFacts reads{.is_read_only = true};
    const ToolFacts changes{.risk = RiskLevel::medium, .is_destructive = true};
    const ToolFacts destroys{
        .risk = RiskLevel::high, .is_destructive = true, .is_reversible = false};
    Tool publish = statement_tool(site, "cms_publishPost", {{"slug", "string"}},
                                  "UPDATE posts SET state = 'published' WHERE slug = ?", changes);
    publish.describe = words("Publish the post \"", "slug", "\" so that everyone can see it");
    Tool archive = statement_tool(site, "cms_archivePost", {{"slug", "string"}},
                                  "UPDATE posts SET state = 'archived' WHERE slug = ?", changes);
    archive.describe =
        words("Archive the post \"", "slug", "\": readers will not find it any more");
    Tool remove = statement_tool(site, "cms_deletePost", {{"slug", "string"}},
                                 "DELETE FROM posts WHERE slug = ?", destroys);
    remove.describe = words("Delete the post \"", "slug", "\" for good");
    Tool image = statement_tool(site, "cms_deleteImage", {{"name", "string"}},
                                "DELETE FROM images WHERE name = ?", destroys);
    image.describe = words("Delete the image \"", "name", "\" for good");
    Tool create = statement_tool(site, "cms_createPost", {{"slug", "string"}, {"title", "string"}},
                                 "INSERT OR REPLACE INTO posts VALUES (?, ?, 'draft')", {});
    return {
        statement_tool(site, "cms_listPosts", {}, "SELECT slug, title, state FROM posts", reads),
        statement_tool(site, "cms_listPages", {}, "SELECT page, title, is_draft FROM pages", reads),
        create,
        publish,
        archive,
        remove,
        image,
        delete_page(site),
        find_order(site)};
}

Toolbox refund_tools(const std::shared_ptr<Site>& site) {
    Tool refund = statement_tool(
        site, "process_refund", {{"amount", "integer"}, {"orderId", "string"}},
        "UPDATE orders SET refunded = refunded + ?1 WHERE id = ?2 AND refunded + ?1 <= paid",
        {.risk = RiskLevel::high, .is_destructive = true, .is_reversible = false});
    refund.describe = [](const Json& arguments) {
        return fmt::format("Refund {} cents of order {}", arguments["amount"].dump(),
                           arguments["orderId"].text_or("?"));
    };
    return {find_order(site), refund,
            statement_tool(site, "send_notification", {{"recipient", "string"}, {"text", "string"}},
                           "INSERT INTO messages VALUES (?, ?)", {})};
}

}  // namespace holdpoint::agent
