#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdpoint/tool.h>

struct sqlite3;

namespace holdpoint::agent {

/// A small site in a SQLite file: posts, pages with sections, images and orders. What its tools
/// change is really changed. Any thread.
class Site {
  public:
    /// Opens or makes the file, and puts everything as it is at the beginning; `:memory:` for
    /// tests.
    static Result<std::shared_ptr<Site>> open(const std::string& path);
    ~Site();
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    /// Runs statements that give nothing back, all or none of them.
    Result<void> execute(const std::string& sql);
    /// Runs one statement; gives the rows as objects, or the number of rows that it changed.
    Result<Json> query(const std::string& sql, const std::vector<Json>& values = {});

  private:
    explicit Site(sqlite3* database) : database_(database) {}
    std::mutex mutex_;
    sqlite3* database_;  // guarded by mutex_
};

/// The tools of an editor and of a refund clerk, on this site.
Toolbox editor_tools(const std::shared_ptr<Site>& site);
Toolbox refund_tools(const std::shared_ptr<Site>& site);

}  // namespace holdpoint::agent
