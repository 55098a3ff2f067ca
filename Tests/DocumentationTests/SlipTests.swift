#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation
import Testing

/// Checks the compiler's first message for mistakes at call sites. It must name the real mistake.
@Suite("The compiler's messages for mistakes", .endsInTime) struct SlipTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let declarations = """
        import Errand
        struct User: Decodable, Sendable { let id: Int; let name: String }
        struct GetUser: Request { typealias Output = User; var path: String { "users/7" } }
        struct GetBytes: Request { var path: String { "users/7" } }
        struct Plain { let id: Int }
        struct Both: Composite {
            var activityKind: ActivityKind { ActivityKind(rawValue: "both") }
            func run(on agent: ScopedAgent) async throws -> Int { 1 }
        }
        final class Screen { var user: User?; var count = 0 }
        func show(_ count: Int) {}

        """

    struct Slip: CustomTestStringConvertible, Sendable {
        /// The body of a function, which is async unless `isAsync` is false.
        let code: String
        /// The compiler's first line, or its beginning.
        let words: String
        var isAsync = true

        init(_ code: String, _ words: String, isAsync: Bool = true) {
            (self.code, self.words, self.isAsync) = (code, words, isAsync)
        }

        var testDescription: String { code }

        var text: String {
            "func slip(_ agent: NetworkAgent, _ screen: Screen) \(isAsync ? "async throws " : ""){\n    \(code)\n}\n"
        }
    }

    @Test("the first line names the mistake, and composites are mentioned only if there are any", arguments: slips)
    func words(slip: Slip) async throws {
        let found = try await SwiftCompiler.diagnostics(of: Self.declarations + slip.text, in: Self.root)
        let first = found.first?.components(separatedBy: ": error: ").last ?? ""
        #expect(first.hasPrefix(slip.words), "\(found)")
        let isComposite = slip.code.contains("Both") || slip.code.contains("agent.run")
        #expect(isComposite || !found.contains { $0.contains("Composite") }, "\(found)")
    }

    struct Shadow: CustomTestStringConvertible, Sendable {
        /// A declaration that compiles, with a member that doesn't do what its name promises.
        let code: String
        /// The end of the compiler's only line.
        let words: String

        init(_ code: String, _ words: String) { (self.code, self.words) = (code, words) }

        var testDescription: String { code }

        static func ignored(_ member: String, _ type: String, _ code: String) -> Shadow {
            Shadow(code, "the request ignores '\(member)', because its type isn't '\(type)' [#DeprecatedDeclaration]")
        }

        static func near(_ member: String, _ requirement: String, of name: String, _ code: String) -> Shadow {
            Shadow(code, "'\(member)' nearly matches defaulted requirement '\(requirement)' of protocol '\(name)'")
        }
    }

    #if DEBUG
    @Test("a member that would be ignored gets a warning that names it", arguments: shadows)
    func ignored(shadow: Shadow) async throws {
        let found = try await SwiftCompiler.diagnostics(of: "import Errand\n" + shadow.code, in: Self.root)
        #expect(found.count == 1 && found.first?.hasSuffix(shadow.words) == true, "\(found)")
        #expect(found.first?.contains(": warning: ") == true)
    }
    #endif

    @Test("requests with every member, as structures, classes, enumerations and extensions, get no warning")
    func unsuspected() async throws {
        #expect(try await SwiftCompiler.diagnostics(of: Self.right, in: Self.root) == [])
    }

    private static let shadows: [Shadow] = [
        .ignored("headers", "HTTPHeaders", "struct Get: Request { var headers: [String: String] { [:] } }"),
        .ignored("headers", "HTTPHeaders", "struct Get: Request { let headers: HTTPHeaders? }"),
        .ignored("headers", "HTTPHeaders", "enum Get: Request { case a; var headers: [String: String]? { nil } }"),
        .ignored("timeout", "Duration?", "struct Get: Request { let timeout = Duration.seconds(3) }"),
        .ignored("timeout", "Duration?", "struct Get: Request { var timeout: Double { 3 } }"),
        .ignored("deadline", "Duration?", "final class Get: Request { let deadline = 3 }"),
        .ignored("method", "HTTPMethod", "struct Get: Request { let method = \"POST\" }"),
        .ignored("path", "String", "struct Get: Request { var path: Substring { \"a\" } }"),
        .ignored("query", "Parameters", "struct Get: Request { var query: [String: Int] { [:] } }"),
        .ignored("parameters", "Parameters?", "struct Get: Request { var parameters: [String: String] { [:] } }"),
        .ignored("body", "RequestBody", "struct Get: Request { let body: RequestBody? }"),
        .ignored("authorization", "Authorization?", "struct Get: Request { var authorization: String { \"a\" } }"),
        .ignored("priority", "RequestPriority?", "struct Get: Request { let priority = RequestPriority.high }"),
        .ignored("redirects", "RedirectPolicy?", "struct Get: Request { let redirects: RedirectPolicy }"),
        .ignored("acceptableStatuses", "StatusCodes", "struct Get: Request { let acceptableStatuses = [200] }"),
        .ignored("label", "String?", "struct Get: Request { let label = \"get\" }"),
        .ignored("tags", "Tags", "struct Get: Request { let tags = [\"a\"] }"),
        .ignored("filters", "[any Filter]", "struct Get<F: Filter>: Request { let filters: [F] }"),
        .ignored("outcomeCheck", "ResponseCheck?", "struct Get: Request { let outcomeCheck: ResponseCheck }"),
        .ignored("checks", "[ResponseCheck]", "struct Get: Request { let checks: [ResponseCheck]? }"),
        .ignored("accessories", "[any Accessory]", "struct Get<A: Accessory>: Request { let accessories: [A] }"),
        .ignored(
            "decoder", "(any BodyDecoder)?", "import Foundation\nstruct Get: Request { let decoder = JSONDecoder() }"),
        // From a protocol of the app.
        .ignored(
            "timeout", "Duration?",
            "protocol Mine: Request {}\nextension Mine { var timeout: Int { 3 } }\nstruct Get: Mine {}"),
        .near(
            "querry", "query", of: "Request",
            "struct Get {}\nextension Get: Request { var querry: Parameters { [:] } }"),
        .near(
            "mapError", "mapError", of: "Request",
            "struct Get {}\nextension Get: Request { func mapError(_ error: ErrandError) -> any Error { error } }"),
        .near(
            "requestDidSucceed(_:response:)", "requestDidSucceed(_:response:)", of: "RequestDelegate",
            """
            @MainActor final class Screen {}
            extension Screen: RequestDelegate {
                func requestDidSucceed(_ activity: Activity, response: Response<Int>) {}
            }
            """),
        .near(
            "cacheTags", "cacheTags", of: "CacheableRequest",
            """
            import ErrandCache
            struct Get {}
            extension Get: CacheableRequest {
                var cachePolicy: CachePolicy { .http }
                var cacheTags: Set<String> { [] }
            }
            """),
    ]

    private static let right = """
        import Errand
        import Foundation
        struct User: Codable, Sendable { let id: Int }
        struct Get: Request {
            typealias Output = User
            let id: Int
            var path: String { "users/\\(id)" }
            let timeout: Duration?
            var deadline: Duration? = .seconds(3)
            let headers: HTTPHeaders
            let filters: [any Filter]
            let decoder: (any BodyDecoder)? = nil
        }
        class Base: Request, @unchecked Sendable { var path: String { "a" }; init() {} }
        final class Derived: Base, @unchecked Sendable { override var path: String { "b" } }
        enum Choice: Request { case headers, tags; var path: String { "choice" } }
        protocol Mine: Request {}
        extension Mine { var timeout: Duration? { .seconds(20) }; var headers: HTTPHeaders { [:] } }
        struct Generic<Value: Codable & Sendable>: Mine {
            typealias Output = [Value]
            var headers: HTTPHeaders { ["A": "b"] }
            func decode(_ response: HTTPResponse) async throws -> [Value] { [] }
        }
        struct Inferred: Mine { func decode(_ response: HTTPResponse) -> Int { 3 } }
        struct Extended {}
        extension Extended: Request { var path: String { "a" }; var searchText: String { "" } }
        func members(of request: some Request, and other: any Request) -> (HTTPHeaders, Duration?) {
            (request.headers, other.timeout)
        }
        """

    private static let user = "'GetUser.Output' (aka 'User')"
    private static let response = "'Response<GetUser.Output>' (aka 'Response<User>')"

    private static let slips = [
        // Typos.
        Slip("print(try await agent.send(GetUser()).value.nmae)", "value of type \(user) has no member 'nmae'"),
        Slip("print(try await agent.send(GetUser()).vlaue)", "value of type \(response) has no member 'vlaue'"),
        Slip(#"print("\(try await agent.send(GetUser()).value.nmae)")"#, "value of type \(user) has no member 'nmae'"),
        Slip("_ = try await agent.send(GetUsr()).value", "cannot find 'GetUsr' in scope"),
        Slip("_ = try await agent.sned(GetUser())", "value of type 'NetworkAgent' has no member 'sned'"),
        Slip(#"_ = try await agent.send(Call<User>(.gett, "x"))"#, "type 'HTTPMethod' has no member 'gett'"),
        Slip(#"_ = try await agent.send(Call<Int>(.get, "x")).value.name"#, "value of type 'Int' has no member 'name'"),
        Slip(
            "let names = try await agent.send(GetUser()).value.map { $0 }; print(names)",
            "value of type \(user) has no member 'map'"),
        // A mismatched type on the left-hand side or around the expression.
        Slip(
            "let id: Int = try await agent.send(GetUser()).value; print(id)",
            "cannot convert value of type \(user) to specified type 'Int'"),
        Slip(
            "let all: [User] = try await agent.send(GetUser()).value; print(all)",
            "cannot convert value of type \(user) to specified type '[User]'"),
        Slip(
            "let user: User = try await agent.send(GetUser()); print(user)",
            "cannot convert value of type \(response) to specified type 'User'"),
        Slip(
            "print(try await agent.send(GetUser()).name)", "value of type \(response) has no member 'name'"),
        Slip(
            "show(try await agent.send(GetUser()).value)",
            "cannot convert value of type \(user) to expected argument type 'Int'"),
        Slip(
            "screen.count = try await agent.send(GetUser()).value",
            "cannot assign value of type \(user) to type 'Int'"),
        Slip(
            "if let user = try await agent.send(GetUser()).value { print(user) }",
            "initializer for conditional binding must have Optional type, not \(user)"),
        Slip(
            "Task { let id: Int = try await agent.send(GetUser()).value; print(id) }",
            "cannot convert value of type \(user) to specified type 'Int'"),
        // Without an `Output`, it's `Data`.
        Slip("print(try await agent.send(GetBytes()).value.name)", "value of type 'Data' has no member 'name'"),
        Slip(
            "let user: User = try await agent.send(GetBytes()).value; print(user)",
            "cannot convert value of type 'Data' to specified type 'User'"),
        Slip(
            "let user = await agent.send(GetUser()).value; print(user)", "call can throw but is not marked with 'try'"),
        Slip(
            "let user = try agent.send(GetUser()).value; print(user)",
            "expression is 'async' but is not marked with 'await'"),
        Slip(
            "let user = try await agent.send(GetUser()).value; print(user)",
            "'async' call in a function that does not support concurrency", isAsync: false),
        // Labels, options, arguments.
        Slip(
            "_ = try await agent.send(GetUser(), option: CallOptions())",
            "incorrect argument label in call (have '_:option:', expected '_:options:')"),
        Slip(
            #"_ = try await agent.send(GetUser(), options: CallOptions(lable: "x"))"#,
            "incorrect argument label in call (have 'lable:', expected 'label:')"),
        Slip(
            "_ = try await agent.send(GetUser(), options: .cache(.reload))", "type 'CallOptions' has no member 'cache'"),
        Slip(
            "_ = try await agent.send(GetUser(), options: 5)",
            "cannot convert value of type 'Int' to expected argument type 'CallOptions'"),
        Slip(
            #"_ = try await agent.send(Call<Void>(.post, "x", body: .json(["a": 1, "b": "x"])))"#,
            "'json(_:encoder:contentType:)' is unavailable: the values have different types"),
        Slip("_ = try await agent.send(GetUser(id: 7))", "argument passed to call that takes no arguments"),
        Slip("_ = try await agent.send(GetUser)", "type 'GetUser.Type' cannot conform to 'Request'"),
        Slip(
            "_ = try await agent.send(Plain(id: 1))",
            "instance method 'send' requires that 'Plain' conform to 'Request'"),
        Slip(
            "_ = try await agent.cached(GetUser())", "value of type 'NetworkAgent' has no member 'cached'"),
        Slip(
            "agent.start(GetUser()) { result in\n switch result {\n case .success(let user): print(user.value.nmae)\n"
                + " case .failure(let error): print(error)\n }\n }", "value of type \(user) has no member 'nmae'",
            isAsync: false),
        Slip(
            "agent.start(GetUser(), delegate: screen)",
            "argument type 'Screen' does not conform to expected type 'RequestDelegate'", isAsync: false),
        Slip("agent.start(GetUser()) { user, error in print(user) }", "contextual closure type", isAsync: false),
        Slip(
            "let id: Int = try await agent.start(GetUser()).value.value; print(id)",
            "cannot convert value of type \(user) to specified type 'Int'"),
        // Composites, which must be run instead of sent.
        Slip("_ = try await agent.send(Both())", "instance method 'send' requires that 'Both' conform to 'Request'"),
        Slip(
            "agent.start(Both()) { print($0) }",
            "instance method 'start(_:delegate:options:completion:)' requires that 'Both' conform to 'Request'",
            isAsync: false),
        Slip("print(try await agent.run(Both()).value)", "value of type 'Int' has no member 'value'"),
        Slip(
            "let text: String = try await agent.run(Both()); print(text)",
            "cannot convert value of type 'Int' to specified type 'String'"),
        Slip(
            "print(try await agent.run(GetUser()))",
            "instance method 'run(_:options:)' requires that 'GetUser' conform to 'Composite'"),
    ]
}
#endif
