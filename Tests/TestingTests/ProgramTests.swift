#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation
import Testing

@Suite("Programs of the package that tests run", .leakChecked)
struct ProgramTests {
    @Test(
        "are found from the test's own file, as a program or a bundle that another program has loaded",
        arguments: [
            ("/clone/.build/debug/ErrandPackageTests.xctest", "/clone/.build/debug"),
            ("/clone/.build/debug/ErrandPackageTests.xctest/Contents/MacOS/ErrandPackageTests", "/clone/.build/debug"),
            ("/clone.xctest/.build/debug/Tests.xctest/Contents/MacOS/Tests", "/clone.xctest/.build/debug"),
            ("/clone/.build/debug/errand-bench", "/clone/.build/debug"), ("/errand-bench", "/"),
        ])
    func products(image: String, expected: String) {
        #expect(Program.products(of: image).path == expected)
    }
}
#endif
