// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Rewire FOLDER: writes two classes of RheaKV to FOLDER, with calls replaced by those of Storage.
 *
 * <p>RheaKV takes options by StorageOptionsFactory. For its store it sets Env and table itself
 * afterwards, and it deletes databases with plain file I/O. So FOLDER comes before RheaKV's jars in
 * the class path.
 */
final class Rewire {
  private static final String STORE = "com/alipay/sofa/jraft/rhea/storage/RocksRawKVStore";
  private static final String LOG = "com/alipay/sofa/jraft/storage/impl/RocksDBLogStorage";

  /** A call of `name` in `method` of a class, and the method of Storage that takes its place. */
  private static final class Call {
    final String in;
    final String method;
    final String name;
    final String replacement;
    boolean found;

    Call(String in, String method, String name, String replacement) {
      this.in = in;
      this.method = method;
      this.name = name;
      this.replacement = replacement;
    }
  }

  private final List<Call> calls = List.of(
      new Call(STORE, "createDBOptions", "org/rocksdb/Env.getDefault", "storeEnv"),
      new Call(STORE, "createColumnFamilyOptions",
          "org/rocksdb/ColumnFamilyOptions.setTableFormatConfig", "keepTable"),
      new Call(STORE, "destroyRocksDB", "org/rocksdb/RocksDB.destroyDB", "destroyStore"),
      new Call(STORE, "readSnapshot", "org/apache/commons/io/FileUtils.deleteDirectory",
          "deleteStore"),
      new Call(LOG, "reset", "org/rocksdb/RocksDB.destroyDB", "destroyLog"));

  public static void main(String[] args) throws IOException {
    new Rewire().write(Path.of(args[0]));
  }

  private void write(Path folder) throws IOException {
    for (String name : List.of(STORE, LOG)) {
      Path file = folder.resolve(name + ".class");
      Files.createDirectories(file.getParent());
      Files.write(file, rewired(name));
    }
    for (Call call : calls) {
      if (!call.found) {
        throw new IllegalStateException(call.in + "." + call.method + "() has no " + call.name);
      }
    }
  }

  private byte[] rewired(String name) throws IOException {
    try (InputStream file = ClassLoader.getSystemResourceAsStream(name + ".class")) {
      ClassReader reader = new ClassReader(file);
      ClassWriter writer = new ClassWriter(reader, 0);
      reader.accept(new Rewired(name, writer), 0);
      return writer.toByteArray();
    }
  }

  /** Hands on a class with its calls replaced. */
  private final class Rewired extends ClassVisitor {
    private final String in;

    Rewired(String in, ClassVisitor next) {
      super(Opcodes.ASM6, next);
      this.in = in;
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
        String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, method, descriptor, signature, exceptions);
      List<Call> here = new ArrayList<>(calls);
      here.removeIf(call -> !call.in.equals(in) || !call.method.equals(method));
      return here.isEmpty() ? next : new MethodVisitor(Opcodes.ASM6, next) {
        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type,
            boolean isInterface) {
          for (Call call : here) {
            if (call.name.equals(owner + "." + name)) {
              call.found = true;
              // The object that a method is called for is the first argument of a static one.
              super.visitMethodInsn(Opcodes.INVOKESTATIC, "Storage", call.replacement,
                  opcode == Opcodes.INVOKESTATIC ? type : type.replace("(", "(L" + owner + ";"),
                  false);
              return;
            }
          }
          super.visitMethodInsn(opcode, owner, name, type, isInterface);
        }
      };
    }
  }
}
