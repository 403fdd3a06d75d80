// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

//! librocktier.so, which registers the plugins when it is loaded with the program.

use std::ffi::{c_char, CStr};

#[link(name = "rocktier")]
extern "C" {
    /// Why no plugin is registered; "" if they are.
    fn rocktier_status() -> *const c_char;
}

pub fn check() -> Result<(), String> {
    // Safe: the function has no condition, and its text stays.
    let why = unsafe { CStr::from_ptr(rocktier_status()) };
    match why.to_string_lossy() {
        why if why.is_empty() => Ok(()),
        why => Err(why.into_owned()),
    }
}
