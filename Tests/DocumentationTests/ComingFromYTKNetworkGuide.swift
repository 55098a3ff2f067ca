// The code of docs/coming-from-ytknetwork.md.
import Errand
import ErrandEnvelopes
import ErrandLoadingIndicatorLog
import ErrandMultipart
import ErrandTesting
import Foundation
import Testing

private enum YTKNetworkGuide {
    nonisolated struct Order: Decodable, Sendable { let id: Int }

    struct ShopReply: ResponseEnvelope {
        let code: EnvelopeCode
        let message: String?
        var isSuccess: Bool { code == 200 }
        var refusesCredential: Bool { code == 401 }

        enum CodingKeys: String, CodingKey { case code, message = "msg" }
    }

    struct GetOrders: AppRequest {
        typealias Output = [Order]
        let page: Int
        var path: String { "orders" }
        var query: Parameters { ["page": page] }
    }

    struct UploadAvatar: AppRequest {
        typealias Output = URL
        let jpeg: Data
        var method: HTTPMethod { .post }
        var path: String { "avatar" }
        var body: RequestBody {
            .multipart(.data(jpeg, name: "file", fileName: "avatar.jpg", contentType: "image/jpeg"))
        }
        var tags: Tags { Tags().with(ShowsHUD.self, true) }
    }

    static func orders(_ agent: NetworkAgent, show: ([Order]) -> Void, toast: (String) -> Void) async {
        do {
            show(try await agent.send(GetOrders(page: 1)).value)
        } catch {
            toast(error.localizedDescription)  // the service's message, or what went wrong on the way
        }
    }

    static func upload(_ agent: NetworkAgent, _ screen: ToastScreen, jpeg: Data) async throws -> URL {
        let hud = LoadingIndicator(watching: { $0.tags[ShowsHUD.self] })
        let toasts = Toasts { text in screen.toast(text) }
        agent.configure { $0.accessories = [hud, toasts] }

        let avatar = try await agent.send(UploadAvatar(jpeg: jpeg)).value
        return avatar
    }
}

private typealias ShopReply = YTKNetworkGuide.ShopReply

private nonisolated protocol AppRequest: EnvelopedRequest where Envelope == ShopReply {}

nonisolated extension AppRequest { var timeout: Duration? { .seconds(15) } }

@Suite("The base classes of YTKNetwork", .endsInTime, .leakChecked) struct YTKNetworkGuideTests {
    private func agent(_ body: String) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(body)))
    }

    @Test("orders are unwrapped, and a toast shows the message of a failure")
    func orders() async {
        var shown: [Int] = []
        var toasts: [String] = []
        for body in [#"{"code":200,"data":[{"id":1},{"id":2}]}"#, #"{"code":500,"msg":"closed on Sundays","data":""}"#]
        {
            await YTKNetworkGuide.orders(agent(body)) {
                shown = $0.map(\.id)
            } toast: {
                toasts.append($0)
            }
        }
        #expect(shown == [1, 2] && toasts == ["closed on Sundays"])
        #expect(YTKNetworkGuide.GetOrders(page: 1).timeout == .seconds(15))
    }

    @Test("an image is uploaded, and its URL comes in the envelope")
    func upload() async throws {
        let screen = ToastScreen()
        let url = try await YTKNetworkGuide.upload(
            agent(#"{"code":200,"data":"https://a.b/7.jpg"}"#), screen, jpeg: Data([1]))
        #expect(url.absoluteString == "https://a.b/7.jpg")
    }
}
