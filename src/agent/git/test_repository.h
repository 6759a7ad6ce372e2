#pragma once

#include <git2.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdpoint::agent::git {

/// A real repository in a folder of its own, read back by the git command line. Neither git nor
/// libgit2 sees the configuration of whoever runs the tests.
class GitRepository : public ::testing::Test {
  protected:
    GitRepository() {
        const char* name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
        folder_ = std::filesystem::temp_directory_path() /
                  ("holdpoint-git-" + std::to_string(::getpid()) + "-" + name);
        std::filesystem::remove_all(folder_);
        root_ = folder_ / "work";
        std::filesystem::create_directories(root_);
        ::setenv("HOME", folder_.c_str(), 1);
        ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
        ::setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
        git_libgit2_init();
        for (const int level : {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_GLOBAL,
                                GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_PROGRAMDATA}) {
            git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
        }
        git("init -q -b main .");
        git("config user.name Agent");
        git("config user.email agent@example.test");
    }
    ~GitRepository() override {
        git_libgit2_shutdown();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    /// What the command prints, with errors; empty lines at the end are gone.
    std::string git(const std::string& arguments) const {
        const std::string command = "cd '" + root_.string() + "' && git " + arguments + " 2>&1";
        std::FILE* pipe = ::popen(command.c_str(), "r");
        std::string out;
        std::array<char, 4096> buffer{};
        for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
            out.append(buffer.data(), n);
        }
        ::pclose(pipe);
        while (out.ends_with('\n')) out.pop_back();
        return out;
    }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }

    std::filesystem::path folder_;
    std::filesystem::path root_;
};

}  // namespace holdpoint::agent::git
