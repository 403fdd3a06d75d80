// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/stub.h"
#include "plugin/tiered_env/pmem/posix.h"
#include "plugin/tiered_env/tier/policy.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A file, wherever it is.
struct Place {
  Tier* tier = nullptr;
  std::string path;  // what tier->fs() knows it by
  bool stub = false;

  FileSystem* fs() const { return tier->fs(); }
};

// Which folder of a tier belongs to which directory. A directory gets a name for its folders when
// the first of its files goes to a tier; the name moves with the directory. Thread-safe.
class Folders {
 public:
  // Told why a folder in a tier could not be synced, where that is no error.
  using Failed =
      std::function<void(const std::string& directory, Tier* tier, const IOStatus& reason)>;

  Folders(FileSystem* target, const Tiers& tiers, Failed failed)
      : target_(target), tiers_(tiers), failed_(std::move(failed)) {}

  // Finds the name of a directory's folders. NotFound: it has none.
  IOStatus Find(const std::string& directory, std::string* folder);
  // Chooses a path for a new file in a tier; makes what is missing. `at_home`, which may be null:
  // whether an error is one of the directory itself, and not of the tier.
  IOStatus NewPath(const std::string& directory, const std::string& base, Tier* tier, Place* place,
                   bool* at_home = nullptr);
  // What has become of a name in a folder.
  enum class Change { kDeleted, kMade };
  // Notes that a name was made or deleted in a directory's folder. To be called after that: a
  // Sync() of another thread would come too early for it.
  void Touch(const std::string& directory, const Tier& tier, Change change);
  // Makes the directory of a tier in memory.
  IOStatus MakeTier(const Tier& tier);
  // Makes durable what was made and deleted in a directory's folders; not in memory. That a
  // deletion is not durable is an error if it is asked `strictly`: else what comes back is an
  // orphan, and a tier that fails must not stop writes to others.
  IOStatus Sync(const std::string& directory, bool strictly = false);
  // Notes that a directory has another name now.
  void Renamed(const std::string& from, const std::string& to);
  // Deletes the folders of a directory with all that is in them, and its name.
  IOStatus Remove(const std::string& directory);

  // Takes over the folders of a database that is locked: locks them, and gives them the id of this
  // opening. InvalidArgument, and nothing is changed, if one is not its own: its directory was
  // copied, or another one has opened the folder since, or it is of another tier, or gone. Busy: it
  // is open elsewhere. `is_database`: there is one already, which gets its folders now; else it
  // gets them with the first file in a tier.
  IOStatus Claim(const std::string& directory, bool is_database);
  // Locks the folders of a database that is locked, and takes nothing over: for a tool that changes
  // something in them. Busy: they are open elsewhere.
  IOStatus Lock(const std::string& directory);
  // Gives up what Claim() and Lock() have taken.
  void Release(const std::string& directory);
  // Refuses what Claim() would, but for Busy.
  IOStatus CheckOwner(const std::string& directory);
  // Whether its folders were never opened by a version that gives ids.
  bool IsOld(const std::string& directory);

  // --- Whose folders are. ---

  enum class Ownership {
    kNone,         // there is no folder
    kOurs,         // the folder's OWNER names the directory
    kMoved,        // it names another one, which is gone, or does not name the folder
    kCopied,       // it names another one, which names the folder, too
    kUnknown,      // there is no sound OWNER
    kForeign,      // another one has opened it since
    kOfOtherTier,  // it is the folder in another tier
    kGone,         // there was a folder
  };
  // Whether nothing in the folder may be touched for the directory; also if it is not there.
  static bool IsOfOthers(Ownership ownership) {
    return ownership == Ownership::kCopied || ownership == Ownership::kForeign ||
           ownership == Ownership::kOfOtherTier || ownership == Ownership::kGone;
  }
  // Whose a directory's folder in a tier is. `other`: what its OWNER names.
  Ownership OwnershipOf(const std::string& directory, const Tier& tier, std::string* other);
  // Takes over the folders of a closed database that Claim() refuses. IOError names the tiers that
  // still keep it from being opened: nothing could be written there. The others are its own then,
  // and it can be called again. Requires Lock().
  IOStatus Adopt(const std::string& directory);
  // Whether a file in a tier may be deleted for a directory: it is in its folder, and the database
  // has locked that, or OWNER there names the directory, as TIERS has it now.
  bool MayDelete(const std::string& directory, const Place& place);
  // Writes OWNER in a directory's folder.
  IOStatus TakeOver(const std::string& directory, const Tier& tier);
  // Gives a directory the name of its folders, over what was there, and locks them. Busy: they are
  // open elsewhere, and nothing is changed.
  IOStatus SetName(const std::string& directory, const std::string& folder);
  // Deletes a folder in the tiers whose OWNER names a directory that is gone, or names another
  // folder. InvalidArgument if its directory is there, NotFound if there is no such folder. With
  // `dry_run` nothing is deleted.
  IOStatus RemoveVanished(const std::string& folder, bool dry_run);
  // Deletes a directory's folder in one tier with all that is in it.
  IOStatus RemoveFrom(const std::string& directory, const Tier& tier);

  static std::string PathIn(const Tier& tier, const std::string& below) {
    return tier.options().path + "/" + below;
  }

 private:
  struct Folder {
    Identity identity;
    std::set<int> made;               // tiers in which it exists
    std::map<int, Change> dirty;      // tiers in which it is to be synced, and for what
    std::map<int, Descriptor> locks;  // by index of the tier
  };

  bool IsThere(const Tier& tier, const std::string& folder) const;
  bool IsEmpty(const Tier& tier, const std::string& folder) const;
  Ownership OwnershipIn(const Identity& ours, const std::string& directory, const Tier& tier,
                        Identity* owner) const;
  // Why a database is not opened; empty if it is.
  static std::string Explain(Ownership ownership, const std::string& directory, const Tier& tier,
                             const Identity& owner);
  // Why the folder in a tier keeps the database from being opened; empty if it does not.
  std::string WhyRefused(const std::string& directory, const Folder& folder,
                         const Tier& tier) const;
  IOStatus CheckOwners(const std::string& directory, const Folder& folder) const;
  // Whether all folders are the home's once it has adopted them. `failures`: as of Renew().
  IOStatus CheckAdopted(const std::string& directory, const Folder& folder,
                        const std::map<int, std::string>& failures) const;
  IOStatus WriteTiers(const std::string& directory, const Identity& identity);
  IOStatus WriteOwner(const Tier& tier, const std::string& directory, const Identity& identity);

  static IOStatus LockFolder(const Tier& tier, const std::string& folder, Descriptor* result);
  static IOStatus LockIn(const Tier& tier, Folder* folder);
  // Locks what is there and is not locked yet.
  IOStatus LockAll(Folder* folder) const;
  // Whether a database is open, and not with its folder in a tier. Requires mutex_.
  bool IsUnlocked(const std::string& directory, const Folder& folder, const Tier& tier) const {
    return open_.count(directory) > 0 && folder.locks.count(tier.index()) == 0;
  }
  // Locks a folder that was not there when its database was opened. InvalidArgument: Claim() would
  // refuse it now. Requires mutex_.
  IOStatus LockReturned(const Tier& tier, const std::string& directory, Folder* folder);

  // Makes durable what is in the folder; from then on TIERS knows the id that its OWNER has.
  void NoteOwner(const Tier& tier, Identity* identity) const;

  // Requires mutex_.
  IOStatus Load(const std::string& directory, Folder** result);
  IOStatus Create(const std::string& directory, Folder** result);
  IOStatus MakeIn(const Tier& tier, const std::string& directory, Folder* folder);
  // Does that before the first file goes to the tier, and has TIERS say so. Sets *at_home if TIERS
  // cannot be written.
  IOStatus Begin(const Tier& tier, const std::string& directory, Folder* folder, bool* at_home);
  // Gives a directory and its folders a new id. `failures`: why that was not written to a tier, by
  // the tier's index; may be null.
  IOStatus Renew(const std::string& directory, Folder* folder,
                 std::map<int, std::string>* failures = nullptr);
  std::string NewSuffix();

  FileSystem* const target_;
  const Tiers& tiers_;
  const Failed failed_;

  std::mutex sync_mutex_;  // one Sync() at a time: what another one makes durable is not yet so

  std::mutex mutex_;
  // All below: guarded by mutex_.
  std::map<std::string, Folder> folders_;  // by directory
  std::set<std::string> open_;             // directories of databases that are locked
  std::mt19937_64 random_{std::random_device()()};
};

// Makes an id of an opening: one more than the last one's count, and random digits.
std::string NewOpening(const std::string& last = "");
// Returns whether an id counts openings. One of an earlier version does not.
bool CountsOpenings(const std::string& opening);
// Returns whether an id counts less openings than another one. One that counts nothing is earlier
// than all that do.
bool IsEarlier(const std::string& opening, const std::string& other);
// Reads a TIERS or OWNER file.
IOStatus ReadIdentity(FileSystem* fs, const std::string& path, Identity* result);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
