#include "agent/git/repository.h"

#include <git2.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/time.h"

namespace holdpoint::agent::git {
namespace {

namespace fs = std::filesystem;

template <class T, void (*free_it)(T*)>
struct Freed {
    void operator()(T* handle) const { free_it(handle); }
};
template <class T, void (*free_it)(T*)>
using Handle = std::unique_ptr<T, Freed<T, free_it>>;

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using IndexHandle = Handle<git_index, git_index_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using SignatureHandle = Handle<git_signature, git_signature_free>;
using ReferenceHandle = Handle<git_reference, git_reference_free>;

/// The library counts who uses it.
class Library {
  public:
    Library() { git_libgit2_init(); }
    ~Library() { git_libgit2_shutdown(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

Error unusable(std::string_view why) { return {ErrorCode::unavailable, std::string(why)}; }

Error failed(int code, std::string_view what) {
    const git_error* error = git_error_last();
    const std::string why = error != nullptr && error->message != nullptr
                                ? visible(cut_utf8(error->message, 300))
                                : fmt::format("error {}", code);
    const bool may_pass = code == GIT_ELOCKED || code == GIT_EMODIFIED;
    return {may_pass ? ErrorCode::conflict : ErrorCode::unavailable,
            fmt::format("{}: {}", what, why)};
}

std::string_view state_word(int state) {
    switch (state) {
        case GIT_REPOSITORY_STATE_MERGE:
            return "a merge";
        case GIT_REPOSITORY_STATE_REVERT:
        case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
            return "a revert";
        case GIT_REPOSITORY_STATE_CHERRYPICK:
        case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
            return "a cherry-pick";
        case GIT_REPOSITORY_STATE_BISECT:
            return "a bisection";
        default:
            return "a rebase";
    }
}

bool is_at_or_below(std::string_view name, std::string_view path) {
    return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '/');
}

/// One commit in the making.
class Work {
  public:
    explicit Work(const CommitOptions& options) : options_(options) {}

    Result<std::string> run(const Entry& entry);
    Result<std::set<std::string>> marks(std::size_t commits_max);

  private:
    Result<void> open();
    Result<void> sign(const std::string& at);
    Result<void> read_head();
    Result<void> read_index();
    Result<git_oid> tree_with(const Entry& entry);
    Result<void> stage(const std::vector<std::string>& paths);
    Result<void> stage_one(const std::string& path);
    Result<void> stage_everything();
    Result<git_oid> tree_of_paths(const std::vector<std::string>& paths);
    Result<git_oid> tree_of_head();
    void copy_entries(git_index& into, const std::string& path);
    Result<void> check_stored(const std::vector<std::string>& paths) const;
    Result<void> check_committed(const git_oid& id) const;
    std::vector<std::string> own_paths(const std::vector<std::string>& named) const;
    std::optional<std::string> relative_path(const std::string& named) const;
    bool is_in_head(const std::string& path) const;

    Library library_;
    const CommitOptions& options_;
    RepositoryHandle repository_;
    SignatureHandle author_;
    SignatureHandle committer_;
    CommitHandle parent_;  // none before the first commit
    TreeHandle head_tree_;
    IndexHandle index_;
};

Result<void> Work::open() {
    git_repository* raw = nullptr;
    // Without searching: a missing repository must not become the one around it.
    const int code = git_repository_open_ext(&raw, options_.repository.c_str(),
                                             GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
    repository_.reset(raw);
    if (code != 0) return failed(code, "the repository cannot be opened");
    if (git_repository_is_bare(raw) == 1) return unusable("the repository is bare");
    if (const int state = git_repository_state(raw); state != GIT_REPOSITORY_STATE_NONE) {
        return unusable(fmt::format("the repository is in the middle of {}", state_word(state)));
    }
    if (git_repository_head_detached(raw) == 1) {
        return unusable("the repository is on no branch (detached HEAD)");
    }
    return {};
}

Result<void> Work::sign(const std::string& at) {
    git_signature* raw = nullptr;
    int code = 0;
    if (!options_.name.empty() && !options_.email.empty()) {
        code = git_signature_now(&raw, options_.name.c_str(), options_.email.c_str());
    } else {
        code = git_signature_default(&raw, repository_.get());
    }
    committer_.reset(raw);
    if (code != 0) return failed(code, "no identity: set user.name and user.email");
    const Result<Timestamp> happened = parse_timestamp(at);
    const git_time_t seconds = happened ? happened->ms / 1000 : raw->when.time;
    git_signature* author = nullptr;
    code = git_signature_new(&author, raw->name, raw->email, seconds, 0);
    author_.reset(author);
    if (code != 0) return failed(code, "the identity cannot be used");
    return {};
}

Result<void> Work::read_head() {
    git_oid id;
    const int found = git_reference_name_to_id(&id, repository_.get(), "HEAD");
    if (found == GIT_ENOTFOUND || found == GIT_EUNBORNBRANCH) return {};
    if (found != 0) return failed(found, "HEAD cannot be read");
    git_commit* parent = nullptr;
    int code = git_commit_lookup(&parent, repository_.get(), &id);
    parent_.reset(parent);
    if (code != 0) return failed(code, "HEAD cannot be read");
    git_tree* tree = nullptr;
    code = git_commit_tree(&tree, parent);
    head_tree_.reset(tree);
    if (code != 0) return failed(code, "HEAD cannot be read");
    return {};
}

Result<void> Work::read_index() {
    git_index* raw = nullptr;
    const int code = git_repository_index(&raw, repository_.get());
    index_.reset(raw);
    if (code != 0) return failed(code, "the index cannot be read");
    if (git_index_has_conflicts(raw) == 1) return unusable("the index holds conflicts");
    return {};
}

bool Work::is_in_head(const std::string& path) const {
    if (!head_tree_) return false;
    git_tree_entry* entry = nullptr;
    const bool is_found = git_tree_entry_bypath(&entry, head_tree_.get(), path.c_str()) == 0;
    git_tree_entry_free(entry);
    return is_found;
}

/// Below the working tree, with no symbolic link on the way; nothing otherwise.
std::optional<std::string> Work::relative_path(const std::string& named) const {
    std::error_code failure;
    const fs::path root = fs::canonical(git_repository_workdir(repository_.get()), failure);
    if (failure) return std::nullopt;
    const fs::path base = options_.working_directory.empty()
                              ? root
                              : fs::weakly_canonical(options_.working_directory, failure);
    const fs::path wanted = (base / named).lexically_normal();
    const fs::path relative = wanted.lexically_relative(root);
    if (relative.empty() || relative == "." || *relative.begin() == "..") return std::nullopt;
    fs::path walked = root;
    std::vector<std::string> parts;
    for (const fs::path& part : relative) {
        if (part.empty()) continue;
        if (fs::is_symlink(fs::symlink_status(walked, failure))) return std::nullopt;
        walked /= part;
        parts.push_back(part.string());
    }
    if (parts.front() == ".git") return std::nullopt;
    return fmt::format("{}", fmt::join(parts, "/"));
}

std::vector<std::string> Work::own_paths(const std::vector<std::string>& named) const {
    std::vector<std::string> paths;
    for (const std::string& name : named) {
        if (name.contains('\0')) continue;
        const std::optional<std::string> path = relative_path(name);
        if (path && std::ranges::find(paths, *path) == paths.end()) paths.push_back(*path);
    }
    return paths;
}

Result<void> Work::stage_one(const std::string& path) {
    const fs::path file = fs::path(git_repository_workdir(repository_.get())) / path;
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(file, failure);
    int code = 0;
    if (status.type() == fs::file_type::not_found) {
        git_index_remove_bypath(index_.get(), path.c_str());
        code = git_index_remove_directory(index_.get(), path.c_str(), 0);
    } else if (fs::is_directory(status)) {
        char* pattern = const_cast<char*>(path.c_str());  // the library takes no const
        const git_strarray only{&pattern, 1};
        code = git_index_add_all(index_.get(), &only, GIT_INDEX_ADD_DISABLE_PATHSPEC_MATCH, nullptr,
                                 nullptr);
    } else if (fs::is_regular_file(status) || fs::is_symlink(status)) {
        int is_ignored = 0;
        git_ignore_path_is_ignored(&is_ignored, repository_.get(), path.c_str());
        if (is_ignored == 1 && git_index_get_bypath(index_.get(), path.c_str(), 0) == nullptr) {
            return {};
        }
        code = git_index_add_bypath(index_.get(), path.c_str());
    }
    if (code != 0) return failed(code, fmt::format("`{}` cannot be staged", visible(path)));
    return {};
}

Result<void> Work::stage(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (Result<void> staged = stage_one(path); !staged) return staged;
    }
    if (const int code = git_index_write(index_.get()); code != 0) {
        return failed(code, "the index cannot be written");
    }
    return {};
}

Result<void> Work::stage_everything() {
    const git_strarray all{nullptr, 0};
    if (const int code =
            git_index_add_all(index_.get(), &all, GIT_INDEX_ADD_DEFAULT, nullptr, nullptr);
        code != 0) {
        return failed(code, "the working tree cannot be staged");
    }
    if (const int code = git_index_write(index_.get()); code != 0) {
        return failed(code, "the index cannot be written");
    }
    return {};
}

/// What the index holds at or below `path`.
void Work::copy_entries(git_index& into, const std::string& path) {
    git_index_remove(&into, path.c_str(), 0);
    git_index_remove_directory(&into, path.c_str(), 0);
    for (std::size_t i = 0; i < git_index_entrycount(index_.get()); ++i) {
        const git_index_entry* entry = git_index_get_byindex(index_.get(), i);
        if (is_at_or_below(entry->path, path)) git_index_add(&into, entry);
    }
}

/// Some versions of the library call an object written that could not be, for example where the
/// folder is read-only. So every answer is looked at again. Without paths: the whole index.
Result<void> Work::check_stored(const std::vector<std::string>& paths) const {
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, repository_.get()); code != 0) {
        return failed(code, "the objects cannot be read");
    }
    const Handle<git_odb, git_odb_free> objects(raw);
    for (std::size_t i = 0; i < git_index_entrycount(index_.get()); ++i) {
        const git_index_entry* entry = git_index_get_byindex(index_.get(), i);
        const bool is_ours = paths.empty() || std::ranges::any_of(paths, [&](const auto& path) {
                                 return is_at_or_below(entry->path, path);
                             });
        // What a submodule points to is stored in the submodule.
        if (!is_ours || entry->mode == GIT_FILEMODE_COMMIT) continue;
        if (git_odb_exists(raw, &entry->id) == 1) continue;
        return unusable(fmt::format("`{}` could not be written", visible(entry->path)));
    }
    return {};
}

Result<void> Work::check_committed(const git_oid& id) const {
    git_commit* raw = nullptr;
    const int code = git_commit_lookup(&raw, repository_.get(), &id);
    const CommitHandle made(raw);
    if (code != 0) return failed(GIT_ERROR, "the commit could not be written");
    git_oid head;
    const bool has_head = git_reference_name_to_id(&head, repository_.get(), "HEAD") == 0;
    const bool is_on_branch =
        has_head && (git_oid_equal(&head, &id) == 1 ||
                     git_graph_descendant_of(repository_.get(), &head, &id) == 1);
    if (!is_on_branch) return unusable("the branch could not be moved to the new commit");
    return {};
}

/// HEAD with these paths as they are staged now; what others have staged stays out.
Result<git_oid> Work::tree_of_paths(const std::vector<std::string>& paths) {
    git_index* raw = nullptr;
    int code = git_index_new(&raw);
    const IndexHandle fresh(raw);
    if (code == 0 && head_tree_) code = git_index_read_tree(raw, head_tree_.get());
    if (code != 0) return failed(code, "HEAD cannot be read");
    for (const std::string& path : paths) copy_entries(*raw, path);
    git_oid tree;
    code = git_index_write_tree_to(&tree, raw, repository_.get());
    if (code != 0) return failed(code, "the tree cannot be written");
    return tree;
}

Result<git_oid> Work::tree_of_head() {
    if (head_tree_) return *git_tree_id(head_tree_.get());
    return tree_of_paths({});
}

Result<git_oid> Work::tree_with(const Entry& entry) {
    const std::vector<std::string> paths =
        entry.has_run ? own_paths(entry.paths) : std::vector<std::string>();
    const bool takes_everything = entry.has_run && options_.owns_working_tree;
    if (!takes_everything && paths.empty()) return tree_of_head();
    if (!takes_everything) {
        if (Result<void> staged = stage(paths); !staged) return staged.error();
        if (Result<void> stored = check_stored(paths); !stored) return stored.error();
        return tree_of_paths(paths);
    }
    if (Result<void> staged = stage_everything(); !staged) return staged.error();
    if (Result<void> stored = check_stored({}); !stored) return stored.error();
    git_oid tree;
    const int code = git_index_write_tree(&tree, index_.get());
    if (code != 0) return failed(code, "the tree cannot be written");
    return tree;
}

Result<std::string> Work::run(const Entry& entry) {
    if (Result<void> opened = open(); !opened) return opened.error();
    if (Result<void> signed_by = sign(entry.at); !signed_by) return signed_by.error();
    if (Result<void> head = read_head(); !head) return head.error();
    if (Result<void> index = read_index(); !index) return index.error();
    const std::vector<std::string> paths = own_paths(entry.paths);
    const bool is_known =
        !paths.empty() &&
        std::ranges::all_of(paths, [&](const std::string& path) { return is_in_head(path); });
    const Result<git_oid> tree_id = tree_with(entry);
    if (!tree_id) return tree_id.error();
    git_tree* raw = nullptr;
    int code = git_tree_lookup(&raw, repository_.get(), &*tree_id);
    const TreeHandle tree(raw);
    if (code != 0) return failed(code, "the tree cannot be read");

    const std::string message = commit_message(entry, is_known, options_.missed);
    const git_commit* parents[] = {parent_.get()};
    git_oid id;
    code = git_commit_create(&id, repository_.get(), "HEAD", author_.get(), committer_.get(),
                             "UTF-8", message.c_str(), raw, parent_ ? 1 : 0, parents);
    if (code != 0) return failed(code, "the commit cannot be written");
    if (Result<void> committed = check_committed(id); !committed) return committed.error();
    char text[GIT_OID_HEXSZ + 1];
    return std::string(git_oid_tostr(text, sizeof(text), &id));
}

constexpr std::string_view request_trailer = "Holdpoint-Request: ";

/// The mark of a message that tells of a request.
std::optional<std::string> mark_in(std::string_view message) {
    const std::size_t at = message.rfind(std::string("\n") + std::string(request_trailer));
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view id = message.substr(at + 1 + request_trailer.size());
    return fmt::format("{}\n{}", message.substr(0, message.find('\n')),
                       id.substr(0, id.find('\n')));
}

Result<std::set<std::string>> Work::marks(std::size_t commits_max) {
    if (Result<void> opened = open(); !opened) return opened.error();
    std::set<std::string> found;
    git_revwalk* raw = nullptr;
    int code = git_revwalk_new(&raw, repository_.get());
    const Handle<git_revwalk, git_revwalk_free> walk(raw);
    if (code != 0) return failed(code, "the history cannot be read");
    // Nothing to walk from: there is no commit yet.
    if (git_revwalk_push_head(raw) != 0) return found;
    git_oid id;
    for (std::size_t i = 0; i < commits_max && git_revwalk_next(&id, raw) == 0; ++i) {
        git_commit* commit = nullptr;
        code = git_commit_lookup(&commit, repository_.get(), &id);
        const CommitHandle held(commit);
        if (code != 0) return failed(code, "the history cannot be read");
        if (std::optional<std::string> mark = mark_in(git_commit_message(commit)))
            found.insert(std::move(*mark));
    }
    return found;
}

}  // namespace

std::string mark_of(const Entry& entry) {
    return mark_in(commit_message(entry, false, 0)).value_or("");
}

Result<std::set<std::string>> marks_in_history(const CommitOptions& options,
                                               std::size_t commits_max) {
    return Work(options).marks(commits_max);
}

Result<std::string> commit(const Entry& entry, const CommitOptions& options) {
    return Work(options).run(entry);
}

}  // namespace holdpoint::agent::git
