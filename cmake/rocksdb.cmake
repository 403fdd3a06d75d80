# Adds the RocksDB tree ROCKSDB_SRC, built by its own CMakeLists.txt with ROCKTIER_PLUGINS.
#
# Sets rocksdb_tree (the tree's root as the build sees it), rocktier_plugins (a list), and for the
# rest of the build RocksDB's C++ standard and flags. The target to link with is rocktier_rocksdb.

if(ROCKSDB_SRC STREQUAL "")
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/scripts/source"
    OUTPUT_VARIABLE ROCKSDB_SRC OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS "${ROCKSDB_SRC}/include/rocksdb/version.h")
  message(FATAL_ERROR
    "ROCKSDB_SRC='${ROCKSDB_SRC}' is not a RocksDB source tree (no include/rocksdb/version.h)")
endif()

# RocksDB finds a plugin at <rocksdb>/plugin/<name>. The links are made in a tree of our own below
# the build directory, whose other entries point to the real tree: the real one stays untouched, and
# several clones and builds can share it.
set(rocksdb_tree "${CMAKE_BINARY_DIR}/rocksdb-tree")
file(REMOVE_RECURSE "${rocksdb_tree}")
file(MAKE_DIRECTORY "${rocksdb_tree}/plugin")
file(GLOB entries RELATIVE "${ROCKSDB_SRC}" "${ROCKSDB_SRC}/*")
list(REMOVE_ITEM entries plugin)
foreach(entry IN LISTS entries)
  file(CREATE_LINK "${ROCKSDB_SRC}/${entry}" "${rocksdb_tree}/${entry}" SYMBOLIC)
endforeach()
separate_arguments(rocktier_plugins UNIX_COMMAND "${ROCKTIER_PLUGINS}")
if(NOT rocktier_plugins)
  file(GLOB makefiles CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugin/*/*.mk")
  foreach(makefile IN LISTS makefiles)
    cmake_path(GET makefile STEM plugin)
    list(APPEND rocktier_plugins ${plugin})
  endforeach()
endif()
foreach(plugin IN LISTS rocktier_plugins)
  if(NOT EXISTS "${CMAKE_SOURCE_DIR}/plugin/${plugin}/${plugin}.mk")
    message(FATAL_ERROR "ROCKTIER_PLUGINS names '${plugin}', but there is no plugin/${plugin}")
  endif()
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/plugin/${plugin}" "${rocksdb_tree}/plugin/${plugin}"
    SYMBOLIC)
endforeach()

list(JOIN rocktier_plugins " " ROCKSDB_PLUGINS)
set(ROCKSDB_BUILD_SHARED OFF CACHE BOOL "")
set(FAIL_ON_WARNINGS OFF CACHE BOOL "")
set(WITH_GFLAGS ON CACHE BOOL "")
set(WITH_LZ4 ON CACHE BOOL "")
set(WITH_ZSTD ON CACHE BOOL "")
set(WITH_SNAPPY ON CACHE BOOL "")
set(WITH_ZLIB ON CACHE BOOL "")
set(WITH_TRACE_TOOLS OFF CACHE BOOL "")
# RocksDB's hundreds of tests would fill our ctest with tests that are not built. The gtest and
# testharness libraries come with WITH_BENCHMARK_TOOLS; test/upstream builds the tests it wants.
set(WITH_TESTS OFF CACHE BOOL "")
set(WITH_BENCHMARK_TOOLS ON CACHE BOOL "")
# RocksDB's find_package() targets (lz4::lz4, ...) must be known where librocksdb is linked.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
add_subdirectory("${rocksdb_tree}" rocksdb EXCLUDE_FROM_ALL)
# Hundreds of false warnings in GCC 12's own AVX-512 header.
set_source_files_properties("${rocksdb_tree}/util/xxhash.cc" DIRECTORY "${rocksdb_tree}"
  PROPERTIES COMPILE_OPTIONS
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")

# A plugin that includes RocksDB's public headers alone has SyncPoints in builds with tests only
# (sync_points.h).
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(plugin IN LISTS rocktier_plugins)
    set(folder "${rocksdb_tree}/plugin/${plugin}")
    if(EXISTS "${folder}/sync_points.h")
      file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
      set_property(SOURCE ${sources} DIRECTORY "${rocksdb_tree}" APPEND PROPERTY
        COMPILE_DEFINITIONS ROCKTIER_TEST_HOOKS)
    endif()
  endforeach()
endif()

# RocksDB keeps what its headers depend on (platform macros, -fno-rtti, -march, sanitizers) in
# variables and properties of its directory. Whatever includes them must be compiled alike.
foreach(variable CXX_STANDARD CXX_FLAGS CXX_FLAGS_DEBUG CXX_FLAGS_RELEASE C_FLAGS EXE_LINKER_FLAGS)
  get_directory_property(CMAKE_${variable} DIRECTORY "${rocksdb_tree}" DEFINITION CMAKE_${variable})
endforeach()
foreach(variable THIRDPARTY_LIBS SYSTEM_LIBS)
  get_directory_property(${variable} DIRECTORY "${rocksdb_tree}" DEFINITION ${variable})
endforeach()
get_directory_property(definitions DIRECTORY "${rocksdb_tree}" COMPILE_DEFINITIONS)
get_directory_property(includes DIRECTORY "${rocksdb_tree}" INCLUDE_DIRECTORIES)
list(REMOVE_ITEM includes "${rocksdb_tree}" "${rocksdb_tree}/include")  # the rest is third parties'

# librocksdb.a with the plugins. Includes resolve from this repository ("plugin/<name>/file.h",
# "test/support/file.h") and from RocksDB's root, internal headers included.
add_library(rocktier_rocksdb INTERFACE)
target_compile_definitions(rocktier_rocksdb INTERFACE ${definitions})
target_include_directories(rocktier_rocksdb INTERFACE
  "${CMAKE_SOURCE_DIR}" "${rocksdb_tree}" "${rocksdb_tree}/include")
target_include_directories(rocktier_rocksdb SYSTEM INTERFACE ${includes})
target_link_libraries(rocktier_rocksdb INTERFACE rocksdb ${THIRDPARTY_LIBS} ${SYSTEM_LIBS})
