package tenure.client;

/** All tests of this folder that need no sidecar; the argument is the folder of the vectors. */
final class Tests {
  private Tests() {}

  public static void main(String[] args) throws Exception {
    TermTest.main(args);
    VectorsTest.main(args);
  }
}
