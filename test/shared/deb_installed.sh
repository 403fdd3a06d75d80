#!/bin/sh
# deb_installed.sh PACKAGES: installs the packages of this folder in a Debian 13, runs Debian's own
# programs with them, and removes them. Prints what each step is about; stops at the first that
# fails.
set -eu
packages=$1
lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/rocktier/librocktier.so
examples=/source/examples

# refused COMMAND...: it fails as a program without plugins does at a log of raw_wal_fs.
refused() {
  if "$@" >/tmp/refused 2>&1; then
    echo "not refused: $*"
    exit 1
  fi
  grep -q "Corruption: unknown WriteBatch tag" /tmp/refused || {
    cat /tmp/refused
    exit 1
  }
}

echo "install"
dpkg --install "$packages"/librocktier_*.deb "$packages"/rocktier-tools_*.deb

echo "the library is found without a path"
for file in "$lib" /usr/bin/rocktier; do
  readelf -d "$file" | grep -q 'NEEDED.*librocksdb.so.9.10'
  test -z "$(readelf -d "$file" | grep -E 'RPATH|RUNPATH')"
done

echo "the tool"
rocktier --version
test -s /usr/share/man/man1/rocktier-wal.1.gz
bash -c '. /usr/share/bash-completion/completions/rocktier && complete -p rocktier'

echo "all plugins, by the C API of librocksdb"
python3 $examples/python/plugins.py "$lib" /tmp/python
python3 $examples/python/plugins.py "$lib" /tmp/python
rocktier wal check /tmp/python/raw_wal_fs/wal
rocktier cache verify /tmp/python/secondary_cache_2q/cache
rocktier blob verify /tmp/python/blob_hybrid/db
rocktier hot verify /tmp/python/hot_promotion/hot

echo "Debian's ldb, with LD_PRELOAD"
uri='id=RocktierEnv;file_system={id=RawWalFileSystem;device=/tmp/wal;size=64M}'
put() { env "$@" ldb --db=/tmp/db --env_uri="$uri" --create_if_missing put key value; }
put LD_PRELOAD="$lib"
test "$(LD_PRELOAD=$lib ldb --db=/tmp/db --env_uri="$uri" get key)" = value
rocktier wal ls /tmp/wal | grep -q /tmp/db
refused ldb --db=/tmp/db --env_uri="$uri" get key
refused ldb --db=/tmp/db get key

echo "Debian's db_bench, with ROCKTIER_FS_URI"
export ROCKTIER_FS_URI='id=RawWalFileSystem;device=/tmp/bench-wal;size=64M'
bench='db_bench --db=/tmp/bench --num=20000'
LD_PRELOAD=$lib $bench --benchmarks=fillrandom
rocktier wal ls /tmp/bench-wal | grep -q /tmp/bench
LD_PRELOAD=$lib $bench --use_existing_db=1 --benchmarks=readseq
refused $bench --use_existing_db=1 --benchmarks=readseq
status=0
ROCKTIER_FS_URI='id=Nothing' LD_PRELOAD=$lib ldb --db=/tmp/new --create_if_missing put key value ||
  status=$?
test $status = 78
test ! -e /tmp/new
unset ROCKTIER_FS_URI

echo "remove"
dpkg --purge librocktier rocktier-tools
test ! -e "$lib"
test ! -e /usr/bin/rocktier
echo "done"
