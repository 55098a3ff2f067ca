import Foundation
import Testing

/// Compares pages that repeat parts of the code with the code.
@Suite("Pages that repeat the code", .endsInTime) struct RepeatingPagesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: "docs/\(name).md"), encoding: .utf8)
    }

    @Test("the page on errors has a row for every code, under the name of its type")
    func codes() throws {
        let page = try Self.page("errors")
        let sections = page.components(separatedBy: "\n## ").dropFirst()
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for block in text.matches(of: /\nextension FailureCode<(\w+)> \{\n((?:[^}].*\n|\n)*)\}/) {
                let section = sections.first { $0.prefix { $0 != "\n" }.contains(block.1) } ?? ""
                for code in block.2.matches(of: /public static var (\w+): Self/) {
                    count += 1
                    #expect(section.contains("| `\(code.1)`"), "\(block.1) has a code \(code.1)")
                }
            }
        }
        #expect(count > 80)
    }

    #if os(Linux) || os(macOS)
    @Test("the compiler messages that the page on compile errors quotes are real")
    func words() async throws {
        let page = try Self.page("compile-errors")
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-words-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try Self.mistakes.enumerated().map { number, code in
            let file = folder.appending(path: "Mistake\(number).swift")
            try "import Errand\n\(code)".write(to: file, atomically: true, encoding: .utf8)
            return file
        }
        let quotes = page.matches(of: /^\| `([^`]+)`/.anchorsMatchLineEndings()).map { String($0.1) }
            .filter { Self.isPrinted($0) }
        #expect(quotes.count > 12)
        // One file at a time, because the first errors in a module can keep the compiler from finding others.
        var found: [String] = []
        for file in files { found += try await SwiftCompiler.diagnostics(of: [file], in: Self.root) }
        for quote in quotes {
            #expect(found.contains { $0.contains(quote) }, "no compiler says: \(quote)")
        }
    }

    /// Only debug builds check the types of a request's members.
    private static func isPrinted(_ quote: String) -> Bool {
        #if DEBUG
        true
        #else
        !quote.contains("_RequestMemberTypes")
        #endif
    }

    /// One mistake for each row of the page.
    private static let mistakes = [
        "func a() -> NetworkAgent { NetworkAgent(baseURL: \"https://a.example\", transport: .system) }",
        "func a(_ agent: NetworkAgent) { agent.configure { $0.filters = [.retry] } }",
        "func a(_ agent: NetworkAgent) async throws { _ = try await agent.send(Call<Void>(.get, \"x\"), options: .cache(.reload)) }",
        "func a(_ agent: NetworkAgent) { _ = agent.cachedThenFresh(Call<String>(.get, \"x\")) }",
        "func a() -> RequestBody { .multipart(.field(\"a\", \"b\")) }",
        "struct Get: CacheableRequest {}",
        "func a() { _ = AuthenticationSession<String>() }",
        "func a(_ agent: NetworkAgent) { agent.configure { $0.decoder = JSONDecoder() } }",
        """
        struct User: Decodable, Sendable { let id: Int }
        func a(_ agent: NetworkAgent) async throws { let user: User = try await agent.send(Call<User>(.get, "x")); print(user) }
        func b(_ agent: NetworkAgent) async throws { let user = try await agent.send(Call<User>(.get, "x")); print(user.id) }
        func c(_ agent: NetworkAgent) async throws { let user = try await agent.send(Call<User>(.get, "x")); print(user.status) }
        """,
        "func a(_ agent: NetworkAgent) async throws { _ = try await agent.send(Call<Int>(.get, \"x\")).value.name }",
        "struct Get: Request {}\nfunc a(_ agent: NetworkAgent) async throws { _ = try await agent.send(Get()).value.name }",
        """
        import ErrandBatch
        struct Get: Request { typealias Output = String }
        func a(_ agent: NetworkAgent) async throws { _ = try await agent.run(Batch([Get()])).value }
        func b(_ agent: NetworkAgent) async throws { _ = try await agent.send(Batch([Get()])) }
        func c(_ agent: NetworkAgent) async throws { _ = try await agent.run(Get()) }
        """,
        "import ErrandCache\nfunc a(_ agent: any Agent) { _ = agent.cachedThenFresh(Call<String>(.get, \"x\")) }",
        "func a(_ agent: NetworkAgent) async throws { let x = try await agent.send(Call(.get, \"x\")).value; print(x) }",
        "let call = Call<String>(.get, \"x\", headers: [\"X-Id\": \"7\"])",
        "let body = RequestBody.json([\"id\": 7, \"name\": \"Ada\"])",
        "import ErrandAuthentication\nlet filters: [any Filter] = [.authentication]",
        "import ErrandAuthentication\nfunc a() { let session = AuthenticationSession { _ in nil }; _ = session }",
        "import ErrandCache\nlet filters: [any Filter] = [.cache(.memory)]",
        "func a(_ error: ErrandError) -> Bool { error.status == 404 }",
        "func a(_ b: () throws -> Void) { do { try b() } catch ErrandError.timedOut {} catch {} }",
        "import ErrandTesting\nfunc a(_ stub: StubTransport) { stub.on(.get, \"/x\", .json(\"{}\")) }",
        "struct User: Sendable {}\nstruct Get: Request { typealias Output = User }",
        "struct User: Sendable {}\nfunc a(_ agent: NetworkAgent) async throws { _ = try await agent.send(Call<User>(.get, \"x\")) }",
        "struct Event: Sendable {}\nimport ErrandWebSocket\nstruct Chat: WebSocketRequest { typealias Incoming = Event }",
        """
        import ErrandPaging
        struct Reply: Decodable, Sendable { let users: [String] }
        struct List: PagedRequest { typealias Output = Reply; var page = PagePosition.number(size: 20) }
        """,
        """
        protocol Mine: Request {}
        extension Mine where Output == Int { var deadline: Int { 3 } }
        struct Get: Mine {}
        """,
        "class User: Decodable { var id = 0 }\nstruct Get: Request { typealias Output = User }",
        "struct Get: Request { typealias Output = String; let items: [String: Any] }",
        """
        func a(_ agent: NetworkAgent, _ items: [String: String]) async throws {
            _ = try await agent.send(Call<String>(.get, "x", query: items))
        }
        """,
        "struct Get: Request { let fields: [String: String]; var headers: HTTPHeaders { fields } }",
        """
        final class Sink { var count = 0 }
        func a(_ sink: Sink) { _ = CallOptions(progress: { _ in sink.count += 1 }) }
        """,
        "func a(_ agent: NetworkAgent) { let user = agent.send(Call<String>(.get, \"x\")); print(user) }",
    ]
    #endif
}
