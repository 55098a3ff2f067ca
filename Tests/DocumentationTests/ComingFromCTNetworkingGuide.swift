// The code of docs/coming-from-ctnetworking.md.
import Errand
import ErrandEnvelopes
import ErrandLoadingIndicatorLog
import ErrandPaging
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

private enum CTNetworkingGuide {
    struct FeedReply: ResponseEnvelope {
        let code: EnvelopeCode
        let message: String?
        let total: Int?
        var isSuccess: Bool { code == 0 }

        enum CodingKeys: String, CodingKey { case code, total, message = "msg" }
    }

    struct GetFeed: FeedRequest, PagedRequest {
        typealias Output = [Article]
        var page = PagePosition.number(size: 20)
        var path: String { "feed" }
        var query: Parameters { page.query("page", size: "size") }

        func total(in response: Response<[Article]>) throws -> Int? {
            try response.http.decoded(as: FeedReply.self).total
        }
    }

    static func agent(_ screen: ToastScreen) -> NetworkAgent {
        let hud = LoadingIndicator(watching: { $0.tags[ShowsHUD.self] })
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .system, accessories: [hud, Toasts { screen.toast($0) }])
        return agent
    }

    static func pages(_ agent: NetworkAgent, show: ([Article], Bool, Bool) -> Void) async throws {
        let feed = PageController(GetFeed(), on: agent)
        try await feed.next()  // loadNextPage
        for await state in feed.states { show(state.items, state.isLoading, state.isLast) }
    }
}

private typealias FeedReply = CTNetworkingGuide.FeedReply

private nonisolated protocol FeedRequest: EnvelopedRequest where Envelope == FeedReply {}

nonisolated extension FeedRequest { var tags: Tags { Tags().with(ShowsHUD.self, true) } }

@Suite("The base manager of CTNetworking", .endsInTime, .leakChecked) struct CTNetworkingGuideTests {
    @Test("a list in an envelope continues to its total, and every page shows the HUD")
    func pages() async throws {
        let stub = StubTransport { request in
            let page = request.url.query?.contains("page=2") == true ? 2 : 1
            let items = Array(repeating: #"{"title":"\#(page)"}"#, count: page == 1 ? 20 : 5)
            return .json(#"{"code":0,"total":25,"data":[\#(items.joined(separator: ","))]}"#)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let feed = PageController(CTNetworkingGuide.GetFeed(), on: agent)
        try await feed.next()
        try await feed.next()
        #expect(try await feed.next() == nil)
        #expect(feed.state.items.count == 25 && feed.state.isLast)
        #expect(CTNetworkingGuide.GetFeed().tags[ShowsHUD.self])
    }
}
