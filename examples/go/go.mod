// Stock RocksDB in Go, and librocktier.so beside it. This grocksdb is for the C API of RocksDB
// 9.10.0: its c.h is the same.
module plugins

go 1.21

require github.com/linxGnu/grocksdb v1.9.8
