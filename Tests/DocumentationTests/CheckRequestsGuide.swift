import Errand
import Testing

/// The code of the pages about `swift package check-requests` and the compiler's errors. Some of it compiles although
/// it's wrong, which is why the check exists.
private enum CheckRequestsGuide {
    struct GetUser: Request {
        static let path = "users/7"  // ignored: Request has an instance property
        var querry: Parameters { ["page": 1] }  // ignored: Request has `query`
    }

    struct PlaceOrder: Request {
        let delivery: String  // not a requirement
        var method: HTTPMethod { .post }
        var body: RequestBody { .json(["delivery": delivery]) }
    }
}

private nonisolated struct Order: Decodable, Sendable { let id: Int }

private nonisolated struct GetOrders {
    let page: Int
}

nonisolated extension GetOrders: Request {
    typealias Output = [Order]
    var path: String { "orders" }
    var query: Parameters { ["page": page] }
}

@Suite("The examples on the page about check-requests") struct CheckRequestsGuideTests {
    @Test("the compiler accepts a member of another kind or name, and uses the default")
    func ignored() async throws {
        let request = CheckRequestsGuide.GetUser()
        #expect(CheckRequestsGuide.GetUser.path == "users/7" && request.querry["page"] != nil)
        func plain(_ request: some Request) -> (String, Parameters) { (request.path, request.query) }
        #expect(plain(request).0.isEmpty && plain(request).1.isEmpty)
    }
}
