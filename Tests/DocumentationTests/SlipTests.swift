#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation
import Testing

/// Checks the compiler's first message for mistakes at call sites. It must name the real mistake.
@Suite("The compiler's words for slips", .timeLimit(.minutes(30))) struct SlipTests {
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

    @Test("the first line names the fault, and no line speaks of composites where there is none", arguments: slips)
    func words(slip: Slip) async throws {
        let found = try await SwiftCompiler.diagnostics(of: Self.declarations + slip.text, in: Self.root)
        let first = found.first?.components(separatedBy: ": error: ").last ?? ""
        #expect(first.hasPrefix(slip.words), "\(found)")
        let isComposite = slip.code.contains("Both") || slip.code.contains("agent.run")
        #expect(isComposite || !found.contains { $0.contains("Composite") }, "\(found)")
    }

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
