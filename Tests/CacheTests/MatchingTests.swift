import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache

@Suite("Which requests a stored response answers", .timeLimit(.minutes(10)), .leakChecked)
struct MatchingTests {
    @Test("users whose names differ only in the composition of a letter are different users")
    func canonicallyEqualUsers() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        func get(of user: String) -> Get {
            var get = Get("a", .http)
            get.headers = HTTPHeaders(["X-User": user]).sensitive("X-User")
            return get
        }
        #expect(try await f.text(get(of: "jos\u{E9}")) == "1")
        #expect(try await f.text(get(of: "jose\u{301}")) == "2")
        #expect(try await f.text(get(of: "jos\u{E9}")) == "1")
    }
}
