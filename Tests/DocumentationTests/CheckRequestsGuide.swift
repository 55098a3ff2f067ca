import Errand
import Testing

/// The code of the page about `swift package check-requests`. It compiles although it's wrong, which is why the check
/// exists.
private enum CheckRequestsGuide {
    struct GetUser: Request {
        var path: String { "users/7" }
        var headers: [String: String] { ["X-Version": "2"] }  // ignored: Request has `headers: HTTPHeaders`
        var querry: Parameters { ["page": 1] }  // ignored: Request has `query`
    }
}

@Suite("What the page about check-requests shows") struct CheckRequestsGuideTests {
    @Test("the compiler takes a member of another type or name, and the default is used")
    func ignored() async throws {
        let request = CheckRequestsGuide.GetUser()
        #expect(request.headers == ["X-Version": "2"] && request.querry["page"] != nil)
        func plain(_ request: some Request) -> (HTTPHeaders, Parameters) { (request.headers, request.query) }
        #expect(plain(request).0.isEmpty && plain(request).1.isEmpty)
    }
}
