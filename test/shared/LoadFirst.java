// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import io.github.rocktier.Rocktier;

/** Runs the example with the plugins of the jar, by one call and without java.library.path. */
public final class LoadFirst {
  public static void main(String[] args) throws Exception {
    Rocktier.load();
    Rocktier.load();
    Plugins.main(args);
  }

  private LoadFirst() {}
}
