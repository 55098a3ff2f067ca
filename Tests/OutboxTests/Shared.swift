import Errand
import ErrandEssentials
import ErrandOutbox
/// Every file of this suite can use the shared test code.
@_exported import ErrandTestSupport
import ErrandTesting

struct Note: OutboxRequest {
    typealias Output = String
    var lane = ""
    var number = 0
    var age: Duration?
    var method: HTTPMethod { .post }
    var path: String { "notes/\(number)" }
    var outboxLane: String { lane }
    var outboxMaximumAge: Duration? { age }
}

/// A request of which the last one wins.
struct Draft: OutboxRequest {
    typealias Output = Void
    var text = ""
    var method: HTTPMethod { .put }
    var path: String { "draft/\(text)" }
    var replacementKey: String? { "draft" }
}

/// A request whose waiting instances are merged.
struct AddToCart: OutboxRequest {
    typealias Output = Void
    var count = 1
    var method: HTTPMethod { .post }
    var path: String { "cart/\(count)" }
    var replacementKey: String? { "cart" }
    func merging(_ older: AddToCart) -> AddToCart { AddToCart(count: count + older.count) }
}

/// A directory, an in-memory server, a clock, and outboxes that use them.
final class Desk: Sendable {
    let folder = TemporaryDirectory()
    let time = ManualTimeSource()
    /// The path of each request that reached the server; `keys` has their keys.
    let received = Log<String>()
    let keys = Log<String>()
    let refusals = Log<OutboxRefusal>()
    let delivered = Log<String>()
    let agent: NetworkAgent

    /// - Parameter respond: Returns the response to a request's path.
    init(
        filters: [any Filter] = [], accessories: [any Accessory] = [],
        respond: @escaping @Sendable (String) async throws -> StubResponse = { .text($0) }
    ) {
        let (received, keys) = (received, keys)
        let transport = StubTransport { request in
            let path = String(request.url.path.dropFirst())
            received.add(path)
            keys.add(request.headers[.idempotencyKey] ?? "")
            return try await respond(path)
        }
        agent = NetworkAgent(
            baseURL: "https://example.com", transport: transport, filters: filters, accessories: accessories, time: time
        )
    }

    var paths: [String] { received.all }

    static var exact: OutboxOptions {
        var options = OutboxOptions(backoff: Backoff(base: .seconds(1), maximumDelay: .seconds(300), jitter: 0))
        options.checkInterval = .seconds(1_000_000)
        return options
    }

    func open(
        _ types: [OutboxType]? = nil, options: OutboxOptions = Desk.exact,
        deciding decide: @escaping @Sendable (OutboxRefusal) async -> OutboxDecision = { $0.standardDecision }
    ) async throws -> Outbox {
        let (refusals, delivered) = (refusals, delivered)
        let all: [OutboxType] = [
            .type("note", Note.self) { delivered.add($0.response.value) }, .type("draft", Draft.self),
            .type("cart", AddToCart.self),
        ]
        return try await agent.outbox(at: folder.url, sending: types ?? all, options: options, time: time) {
            refusals.add($0)
            return await decide($0)
        }
    }

    /// Opens an outbox that doesn't send, as an app extension does.
    func enqueueOnly() async throws -> Outbox {
        var options = Desk.exact
        options.allowsSending = false
        return try await open(options: options)
    }

    var log: URL { folder.url.appending(path: "outbox.log") }
}

extension Outbox {
    func reached(_ isSo: (OutboxState) -> Bool) async throws {
        for await state in states where isSo(state) { return }
        throw CancellationError()
    }

    func isEmpty() async throws { try await reached { $0.entries.isEmpty } }
}
