import ErrandPlatform
import Foundation
import Testing

@Suite("Queries of the system") struct SystemQueriesTests {
    @Test("the system has a limit of open files, and room in the temporary folder")
    func queries() throws {
        #expect(try #require(SystemQueries.openFileLimit) > 0)
        #expect(try #require(SystemQueries.freeSpace(in: FileManager.default.temporaryDirectory.path)) > 0)
        #expect(SystemQueries.freeSpace(in: "/no/such/folder") == nil)
        #expect(SystemQueries.columns(of: -1) == nil)
    }
}
