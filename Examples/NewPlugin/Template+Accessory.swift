extension PluginTemplate {
    static func accessory(_ name: PluginName) -> PluginTemplate {
        PluginTemplate(
            summary: "An accessory for Errand. As it was written, it counts how requests end.",
            usage: """
                let \(name.declaredMember) = \(name.type)()
                let agent = NetworkAgent(
                    baseURL: "https://api.example.com", transport: .system, accessories: [\(name.declaredMember)])
                """,
            suite: "ErrandConformance", modules: ["Errand"],
            testModules: ["ErrandConformance", "ErrandSystemTransport", "ErrandTesting"],
            source: """
                public import Errand
                import Synchronization

                /// Counts how requests end.
                ///
                /// ```swift
                /// let counter = \(name.type)()
                /// let agent = NetworkAgent(
                ///     baseURL: "https://api.example.com", transport: .system, accessories: [counter])
                /// ```
                ///
                /// Agents may share a counter. Safe to use from any thread.
                public final class \(name.type): Accessory {
                    /// The number of finished requests, by outcome.
                    public struct Counts: Sendable, Hashable {
                        /// Requests whose response was accepted.
                        public var succeeded = 0
                        /// Requests that failed with an error.
                        public var failed = 0
                        /// Cancelled requests.
                        public var cancelled = 0
                    }

                    private let state = Mutex(Counts())

                    /// Creates a counter that starts at zero.
                    public init() {}

                    /// The current counts.
                    public var counts: Counts { state.withLock { $0 } }

                    /// Runs on the event's thread, so keep it short and hold the lock only briefly.
                    public func activity(_ activity: Activity, did event: ActivityEvent) {
                        guard activity.kind == .request, case .willStop(let outcome) = event else { return }
                        state.withLock { counts in
                            switch outcome {
                            case .success: counts.succeeded += 1
                            case .failure: counts.failed += 1
                            case .cancelled: counts.cancelled += 1
                            }
                        }
                    }
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
                    @Test(
                        "passes the accessory conformance suite",
                        arguments: AccessoryConformance.cases(for: { \(name.type)() }, output: { "\\($0.counts)" }))
                    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

                    @Test("counts how requests end")
                    func counts() async throws {
                        let server = try TestServer()
                        server.on("/users", .text("ok"))
                        server.on("/none", .status(404))
                        let gate = Gate()
                        server.on("/slow", .text("late").waiting(for: gate))
                        let counter = \(name.type)()
                        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [counter])
                        _ = try await agent.send(Call<String>(.get, "users"))
                        await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, "none")) }
                        let slow = Task { try await agent.send(Call<String>(.get, "slow")) }
                        try await gate.reached()
                        slow.cancel()
                        _ = await slow.result
                        let counts = counter.counts
                        #expect(counts.succeeded == 1 && counts.failed == 1 && counts.cancelled == 1)
                    }
                }

                """)
    }

    static func logSink(_ name: PluginName) -> PluginTemplate {
        PluginTemplate(
            summary: "A destination for the log of Errand. As it was written, it keeps the newest lines in memory.",
            usage: """
                let sink = \(name.type)(limit: 500)
                let agent = NetworkAgent(
                    baseURL: "https://api.example.com", transport: .system, accessories: [RequestLog(.line, to: sink)])
                """,
            suite: "ErrandConformance", modules: ["Errand", "ErrandLoadingIndicatorLog"],
            testModules: ["ErrandConformance", "ErrandTesting"],
            source: """
                import Errand
                public import ErrandLoadingIndicatorLog
                import Synchronization

                /// Keeps the newest log lines in memory, for a debug screen or a bug report.
                ///
                /// ```swift
                /// let sink = \(name.type)(limit: 500)
                /// let agent = NetworkAgent(
                ///     baseURL: "https://api.example.com", transport: .system,
                ///     accessories: [RequestLog(.line, to: sink)])
                /// ```
                public final class \(name.type): LogSink {
                    private let limit: Int
                    private let kept = Mutex<[String]>([])

                    /// - Parameter limit: the maximum number of records. Defaults to 1000.
                    public init(limit: Int = 1000) { self.limit = max(0, limit) }

                    /// The lines, oldest first.
                    public var lines: [String] { kept.withLock { $0 } }

                    /// Called for one record at a time, on the log's own thread. Records contain no secrets.
                    public func write(_ record: LogRecord) {
                        let line = record.description
                        kept.withLock { lines in
                            lines.append(line)
                            if lines.count > limit { lines.removeFirst(lines.count - limit) }
                        }
                    }
                }

                """,
            tests: """
                import Errand
                import ErrandConformance
                import \(name.module)
                import ErrandLoadingIndicatorLog
                import ErrandTesting
                import Testing

                @Suite("\(name.type)")
                struct \(name.type)Tests {
                    @Test("passes the accessory conformance suite as a sink of a log", arguments: cases())
                    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

                    private static func cases() -> [PluginConformanceCase] {
                        let sink = \(name.type)()
                        return AccessoryConformance.cases(
                            for: { RequestLog(.headers, to: sink) },
                            output: { log in
                                await log.flush()
                                return sink.lines.joined(separator: "\\n")
                            })
                    }

                    @Test("keeps the newest lines")
                    func newest() async throws {
                        let sink = \(name.type)(limit: 2)
                        let log = RequestLog(.line, to: sink)
                        let agent = NetworkAgent(
                            baseURL: "https://api.example.com", transport: .stub(.text("ok")), accessories: [log])
                        for path in ["first", "second", "third"] { _ = try await agent.send(Call<String>(.get, path)) }
                        await log.flush()
                        #expect(sink.lines.count == 2)
                        #expect(sink.lines.first?.contains("/second") == true)
                        #expect(sink.lines.last?.contains("/third") == true)
                    }
                }

                """)
    }
}
