// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

//! Finds librocktier.so in ROCKSDB_LIB_DIR, where librocksdb-sys finds RocksDB: when the program is
//! linked, and when it runs.
fn main() {
    println!("cargo:rerun-if-env-changed=ROCKSDB_LIB_DIR");
    let folder = std::env::var("ROCKSDB_LIB_DIR").expect("ROCKSDB_LIB_DIR is not set");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
