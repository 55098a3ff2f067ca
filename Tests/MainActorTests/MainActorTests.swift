import Errand
import ErrandEssentials
import ErrandLoadingIndicatorLog
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

/// New Xcode apps isolate declarations to the main actor by default; so does this target.
@Suite("MainActor by default", .endsInTime, .leakChecked) struct MainActorTests {
    nonisolated private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    nonisolated private static let root = here.deletingLastPathComponent().deletingLastPathComponent()
    nonisolated private static let isolated = ["-default-isolation", "MainActor"]

    private func agent(_ response: StubResponse) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response))
    }

    @Test("requests, models and tags of such an app are sent and decoded off the main actor")
    func sends() async throws {
        let user = try await agent(.json(#"{"id":7,"name":"Ada"}"#)).send(GetUser(id: 7)).value
        #expect(user.name == "Ada")
        let tags = Tags().with(Screen.self, "profile")
        #expect(tags[Screen.self] == "profile")
        let sum = try await agent(.json(#"{"id":7,"name":"Ada"}"#)).run(Pair())
        #expect(sum == 14)
        let text = try await NetworkAgent(baseURL: "https://a.example", transport: Nowhere()).send(
            Call<String>(.get, "x")
        ).value
        #expect(text == "ab")
    }

    @Test("progress for a view arrives on the main actor, in order, with the last value before the completion")
    func progress() async throws {
        let bar = Bar()
        let server = try TestServer()
        server.on(.get, "/x") { _ in .data(Data(repeating: 1, count: 300_000)) }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let options = CallOptions(progressOnMain: { bar.received.append($0.received) })
        await withCheckedContinuation { done in
            agent.start(Call<Data>(.get, "x"), options: options) { _ in
                bar.atEnd = bar.received.last
                done.resume()
            }
        }
        #expect(bar.atEnd == 300_000 && bar.received == bar.received.sorted())
    }

    @Test("closures of an event accessory for a view are called on the main actor, in their order")
    func events() async throws {
        let bar = Bar()
        let events = EventAccessory.onMain(
            willStart: { bar.lines.append("start") }, success: { _ in bar.lines.append("success") },
            failure: { _ in bar.lines.append("failure") }, didStop: { bar.lines.append("stop") })
        _ = try await agent(.text("x")).send(Call<String>(.get, "x"), options: CallOptions(accessories: [events]))
        try await eventually { @MainActor in bar.lines == ["start", "success", "stop"] }
    }

    @Test("an accessory on the main actor receives the events in their order")
    func accessory() async throws {
        let bar = Bar()
        let accessory = MainActorAccessory { activity, event in
            switch event {
            case .willStart: bar.lines.append("start \(activity.label)")
            case .didStop: bar.lines.append("stop")
            default: break
            }
        }
        let options = CallOptions(accessories: [accessory], label: "call")
        _ = try await agent(.text("x")).send(Call<String>(.get, "x"), options: options)
        try await eventually { @MainActor in bar.lines == ["start call", "stop"] }
    }

    #if os(Linux) || os(macOS)
    @Test(
        "the code of README and the pages, files to copy and each protocol compile in such an app",
        arguments: ["5", "6"])
    func pages(mode: String) async throws {
        let folder = Self.here.deletingLastPathComponent().appending(path: "DocumentationTests")
        let guides = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).filter {
            let name = $0.lastPathComponent
            return name.hasSuffix(".swift") && !name.hasPrefix("Doc") && name != "ErrorTests.swift"
        }
        #expect(guides.count > 20)
        let arguments = Self.isolated + ["-wmo"] + SwiftCompiler.argumentsOfTests(in: Self.root)
        let copied = try ["Recipes", "CacheStores"].map { name in
            let folder = Self.root.appending(path: "Examples/\(name)")
            return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { !$0.path.hasSuffix("Tests.swift") && !$0.path.hasSuffix("/RedisServer.swift") }
        }
        for files in [guides, [Self.here.appending(path: "UserCode.swift")]] + copied {
            let found = try await SwiftCompiler.diagnostics(of: files, in: Self.root, mode: mode, arguments)
            // Diagnostics in macro expansions come from the guides' tests, which aren't app code.
            let said = found.filter { !$0.hasPrefix("macro expansion") }
            #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
        }
    }

    @Test(
        "if a model is on the main actor, the compiler's message names the fix", arguments: ["5", "6"])
    func model(mode: String) async throws {
        let code = """
            import Errand
            struct User: Decodable { let id: Int }
            struct GetUser: Request { typealias Output = User }
            """
        let found = try await SwiftCompiler.diagnostics(of: code, in: Self.root, mode: mode, Self.isolated)
        #expect(found.contains { $0.contains("'nonisolated struct User: Decodable'") }, "\(found)")
        #expect(try await SwiftCompiler.diagnostics(of: code, in: Self.root, mode: mode).isEmpty)
    }

    @Test("an output that isn't decodable is named, with any isolation")
    func output() async throws {
        let code = """
            import Errand
            struct User: Sendable { let id: Int }
            struct GetUser: Request { typealias Output = User }
            """
        let found = try await SwiftCompiler.diagnostics(of: code, in: Self.root)
        #expect(found.contains { $0.contains("'Output' has no default 'decode'") }, "\(found)")
    }

    @Test("the compiler messages that the page quotes are real")
    func words() async throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/main-actor.md"), encoding: .utf8)
        let cases = [
            "struct User: Decodable, Sendable { let id: Int }\nlet call = Call<User>(.get, \"x\")",
            """
            protocol ShopRequest: Request {}
            extension ShopRequest { func mapError(_ error: any Error) -> any Error { error } }
            struct Offers: ShopRequest {}
            """,
            """
            struct Reader { let name = "" }
            extension Reader: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) { _ = name } }
            """,
            """
            struct Cipher: Sendable { func seal(_ text: String) -> String { text } }
            struct Seal: Filter {
                func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                    var exchange = exchange
                    exchange.http.headers["X-Seal"] = Cipher().seal("x")
                    return try await next(exchange)
                }
            }
            """,
            """
            func stamp() -> String { "7" }
            struct Get: Request { var headers: HTTPHeaders { ["X-Stamp": stamp()] } }
            """,
            """
            extension NetworkAgent {
                func load(_ show: (String) -> Void) async throws { show(try await send(Call<String>(.get, "x")).value) }
            }
            final class Screen {
                var text = ""
                func load(_ agent: NetworkAgent) async throws { try await agent.load { text = $0 } }
            }
            """,
            """
            final class Bar { var value = 0.0 }
            func show(_ bar: Bar) { _ = CallOptions(progress: { bar.value = $0.fraction ?? 0 }) }
            """,
        ]
        // Sending between actors is checked after type checking, so the code has to be compiled to SIL.
        let arguments = Self.isolated + ["-emit-sil", "-o", "/dev/null"]
        for code in cases {
            let found = try await SwiftCompiler.diagnostics(of: "import Errand\n" + code, in: Self.root, arguments)
            let words = found.filter { $0.contains(": error: ") }.compactMap { line in
                line.components(separatedBy: ": error: ").last?.components(separatedBy: " [#").first?
                    .trimmingCharacters(in: .whitespaces)
            }
            #expect(!words.isEmpty)
            #expect(words.contains { page.contains($0) }, "\(words)")
        }
    }
    #endif
}

private final class Bar {
    var received: [Int64] = []
    var atEnd: Int64?
    var lines: [String] = []
}
