extension PluginTemplate {
    static func filter(_ name: PluginName) -> PluginTemplate {
        let field = "X-\(name.field)"
        return PluginTemplate(
            summary:
                "A filter for Errand. As it was written, it adds the field `\(field)` to each request to the service.",
            usage: """
                let agent = NetworkAgent(
                    baseURL: "https://api.example.com", transport: .system, filters: [.\(name.member)("value")])
                """,
            suite: "ErrandConformance", modules: ["Errand"],
            testModules: ["ErrandConformance", "ErrandSystemTransport", "ErrandTesting"],
            source: """
                public import Errand

                /// Adds a header field to each request to the service.
                ///
                /// ```swift
                /// let agent = NetworkAgent(
                ///     baseURL: "https://api.example.com", transport: .system, filters: [.\(name.member)("value")])
                /// ```
                public struct \(name.type): Filter {
                    /// The field's value.
                    public let value: String

                    /// Creates a filter. Agents may share it.
                    public init(_ value: String) { self.value = value }

                    /// Runs once per call. Use `.hop` for each redirect and attempt, or `.wire` to run after every
                    /// cache.
                    public var stages: FilterStages { .call }

                    /// `agent.explain` uses this to check the filter's position.
                    public var traits: FilterTraits { .changesRequest }

                    /// A short description for `agent.explain`. Must not contain secrets.
                    public var explanation: String { "adds \(field)" }

                    /// Adds the field, then passes the request to the remaining filters.
                    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                        // A link from the server may lead to another origin, which must not get the field.
                        guard exchange.isTrusted else { return try await next(exchange) }
                        var exchange = exchange
                        exchange.http.headers["\(field)"] = value
                        return try await next(exchange)
                    }
                }

                extension Filter where Self == \(name.type) {
                    /// `filters: [.\(name.member)("value")]`
                    public static func \(name.declaredMember)(_ value: String) -> \(name.type) { \(name.type)(value) }
                }

                """,
            tests: """
                import Errand
                import ErrandConformance
                import \(name.module)
                import ErrandSystemTransport
                import ErrandTesting
                import Testing

                @Suite("\(name.type)")
                struct \(name.type)Tests {
                    @Test("passes the filter conformance suite", arguments: FilterConformance.cases(for: { \(name.type)("test") }))
                    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

                    @Test("adds its field only to requests to the service")
                    func field() async throws {
                        let stub = StubTransport { request in .text("\\(request.method)") }
                        let agent = NetworkAgent(
                            baseURL: "https://api.example.com", transport: stub, filters: [.\(name.member)("test")])
                        _ = try await agent.send(Call<String>(.get, "users"))
                        _ = try await agent.send(Call<String>(.get, "https://other.example.com/users"))
                        #expect(stub.received.map { $0.headers["\(field)"] } == ["test", nil])
                    }

                    @Test("adds its field on the wire")
                    func wire() async throws {
                        let server = try TestServer()
                        server.on("/users", .text("ok"))
                        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.\(name.member)("test")])
                        let text = try await agent.send(Call<String>(.get, "users")).value
                        #expect(text == "ok")
                        #expect(server.received.first?.headers["\(field)"] == "test")
                    }
                }

                """)
    }

    static func check(_ name: PluginName) -> PluginTemplate {
        PluginTemplate(
            summary: """
                A check of responses for Errand, with the filter that adds it to every request. As it was written, it \
                refuses JSON whose member `code` is not 0.
                """,
            usage: """
                let agent = NetworkAgent(
                    baseURL: "https://api.example.com", transport: .system, filters: [.\(name.member)])
                """,
            suite: "ErrandConformance", modules: ["Errand", "ErrandEssentials"],
            testModules: ["ErrandConformance", "ErrandSystemTransport", "ErrandTesting"],
            source: """
                public import Errand
                import ErrandEssentials

                extension ResponseCheck {
                    /// Rejects a JSON response whose member `code` exists and isn't 0, with \(name.type)Error.
                    ///
                    /// ```swift
                    /// struct GetUser: Request { var checks: [ResponseCheck] { [.\(name.member)] } }
                    /// ```
                    public static var \(name.declaredMember): ResponseCheck {
                        ResponseCheck("\(name.phrase)") { response in
                            guard response.mediaType == "application/json",
                                let envelope = try? response.json(Envelope.self), envelope.code != 0
                            else { return }
                            throw \(name.type)Error(code: envelope.code, message: envelope.message ?? "")
                        }
                    }

                    private struct Envelope: Decodable {
                        let code: Int
                        let message: String?
                    }
                }

                /// Adds the check to every request of an agent: `filters: [.\(name.member)]`
                public struct \(name.type): Filter {
                    /// Creates a filter. Agents may share it.
                    public init() {}

                    /// A short description for `agent.explain`.
                    public var explanation: String { "checks the \(name.phrase) of responses" }

                    /// Errand runs the check on the final response, even from a cache. A rejected response isn't
                    /// stored.
                    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                        exchange.checks.add(.\(name.member))
                        return try await next(exchange)
                    }
                }

                extension Filter where Self == \(name.type) {
                    /// `filters: [.\(name.member)]`
                    public static var \(name.declaredMember): \(name.type) { \(name.type)() }
                }

                /// An error reported by the service.
                public struct \(name.type)Error: DescribedError {
                    /// The service's error number.
                    public let code: Int
                    /// The service's error message.
                    public let message: String
                    /// One line for developers.
                    public var description: String { "the service refuses the request: \\(code) \\(message)" }
                    /// A sentence for users.
                    public var failureSentence: FailureSentence { .refused }
                    /// Always 1, because there is only one kind.
                    public var errorCode: Int { 1 }
                }

                """,
            tests: """
                import Errand
                import ErrandConformance
                import \(name.module)
                import ErrandSystemTransport
                import ErrandTesting
                import Testing

                @Suite("\(name.type)")
                struct \(name.type)Tests {
                    @Test("passes the filter conformance suite", arguments: FilterConformance.cases(for: { \(name.type)() }))
                    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

                    @Test("accepts the code 0, another type and no code", arguments: [#"{"code": 0}"#, #"{"id": 7}"#, "[]"])
                    func accepted(json: String) async throws {
                        let agent = NetworkAgent(
                            baseURL: "https://api.example.com", transport: .stub(.json(json)), filters: [.\(name.member)])
                        let text = try await agent.send(Call<String>(.get, "users")).value
                        #expect(text == json)
                    }

                    @Test("refuses another code, with the service's message")
                    func refused() async throws {
                        let server = try TestServer()
                        server.on("/users", .json(#"{"code": 40001, "message": "no such user"}"#))
                        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.\(name.member)])
                        let error = await #expect(throws: \(name.type)Error.self) {
                            try await agent.send(Call<String>(.get, "users"))
                        }
                        #expect(error?.code == 40001)
                        #expect(error?.message == "no such user")
                    }
                }

                """)
    }
}
