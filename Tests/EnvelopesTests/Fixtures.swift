import Errand
import ErrandEnvelopes
import ErrandEssentials
import ErrandTesting

struct User: Codable, Sendable, Hashable {
    var id = 7
    var name = "Ada"
}

/// The most common envelope: `{"code":0,"msg":"ok","data":{…}}`.
struct Reply: ResponseEnvelope {
    let code: EnvelopeCode
    let message: String?
    var total: Int?
    var isSuccess: Bool { code == 0 }
    var refusesCredential: Bool { code == 40_101 }

    enum CodingKeys: String, CodingKey {
        case code, total
        case message = "msg"
    }
}

protocol ShopRequest: EnvelopedRequest where Envelope == Reply {}

struct Get<Output: Decodable & Sendable>: ShopRequest {
    var path = "x"
    var acceptableStatuses = StatusCodes.successful
}

struct Post: ShopRequest {
    typealias Output = Void
    var method: HTTPMethod { .post }
    var path: String { "x" }
}

extension NetworkAgent {
    convenience init(stub body: String, status: Int = 200, _ filters: any Filter...) {
        self.init(
            baseURL: "https://api.example.com",
            transport: StubTransport(maximumRecordedRequests: 0) { _ in .json(body, status: status) },
            filters: filters)
    }
}

let ada = #"{"code":0,"msg":"ok","data":{"id":7,"name":"Ada"}}"#
