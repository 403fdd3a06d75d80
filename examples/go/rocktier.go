// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

//go:build rocktier

package main

// #cgo LDFLAGS: -lrocktier
// const char* rocktier_status(void); /* why no plugin is registered; "" if they are */
import "C"

import "log"

// librocktier.so registers the plugins when it is loaded with the program.
func init() {
	if why := C.GoString(C.rocktier_status()); why != "" {
		log.Fatal(why)
	}
}
