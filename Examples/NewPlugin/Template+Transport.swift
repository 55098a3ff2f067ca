extension PluginTemplate {
    static func transport(_ name: PluginName) -> PluginTemplate {
        PluginTemplate(
            summary: """
                A transport for Errand. As it was written, it sends requests to some hosts by another transport, such as \
                a stub, and all others by the one that it was made with.
                """,
            usage: """
                let transport = \(name.type)(.system, hosts: ["fake.example.com": .stub(.text("made up"))])
                let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
                """,
            suite: "ErrandConformance", modules: ["Errand", "ErrandEssentials"],
            testModules: ["ErrandConformance", "ErrandSystemTransport", "ErrandTesting"],
            source: """
                public import Errand
                import ErrandEssentials

                /// Sends requests for some hosts through other transports, and the rest through a base transport.
                ///
                /// ```swift
                /// let transport = \(name.type)(.system, hosts: ["fake.example.com": StubTransport(.text("made up"))])
                /// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
                /// ```
                public struct \(name.type): Transport {
                    private let base: any Transport
                    private let others: [String: any Transport]

                    /// - Parameters:
                    ///   - base: the transport for all other hosts.
                    ///   - others: the transports by host, in lowercase.
                    public init(_ base: some Transport, hosts others: [String: any Transport] = [:]) {
                        (self.base, self.others) = (base, others)
                    }

                    /// Sends a request. A transport doesn't follow redirects, keep cookies or retry: Errand does.
                    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                        let host = request.url.host()?.lowercased() ?? ""
                        return try await (others[host] ?? base).send(request, options: options)
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
                    #if canImport(Darwin)
                    static let limitations: [KnownLimitation] = [
                        .feature(
                            .preSendCheck, because: "URLSession does not show when a wait for a connection is over"),
                        .feature(.trailers, because: "URLSession does not deliver trailers"),
                    ]
                    #else
                    static let limitations: [KnownLimitation] = []
                    #endif

                    @Test(
                        "passes the transport conformance suite",
                        arguments: TransportConformance.cases(for: { \(name.type)(.system) }, knownLimitations: limitations))
                    func conformance(each: ConformanceCase) async throws {
                        if let limitation = each.limitation { try Test.cancel("\\(each.name) is excused: \\(limitation)") }
                        try await each.run()
                    }

                    @Test("uses the host's transport for requests to that host, and the inner transport for other requests")
                    func hosts() async throws {
                        let server = try TestServer()
                        server.on("/users", .text("from the server"))
                        let transport = \(name.type)(
                            .system, hosts: ["fake.example.com": StubTransport(.text("made up"))])
                        let agent = NetworkAgent(baseURL: server.url, transport: transport)
                        let real = try await agent.send(Call<String>(.get, "users")).value
                        #expect(real == "from the server")
                        let fake = try await agent.send(Call<String>(.get, "http://FAKE.example.com/users")).value
                        #expect(fake == "made up")
                    }
                }

                """)
    }

    static func cacheStore(_ name: PluginName) -> PluginTemplate {
        PluginTemplate(
            summary: """
                A store for the cache of Errand. As it was written, it keeps responses in memory, and removes those that \
                were not used for the longest time.
                """,
            usage: """
                let agent = NetworkAgent(
                    baseURL: "https://api.example.com", transport: .system, filters: [.cache(\(name.type)())])
                """,
            suite: "ErrandCacheTesting", modules: ["Errand", "ErrandCache", "ErrandEssentials"],
            testModules: ["ErrandCacheTesting", "ErrandTesting"],
            source: """
                import Errand
                public import ErrandCache
                public import ErrandEssentials

                /// Keeps responses in memory, and drops the least recently used responses first.
                ///
                /// ```swift
                /// let agent = NetworkAgent(
                ///     baseURL: "https://api.example.com", transport: .system, filters: [.cache(\(name.type)())])
                /// ```
                public actor \(name.type): CacheStore {
                    private struct Kept {
                        var entry: CacheEntry
                        let bytes: Int
                        var lastUse: Int
                    }

                    private let limit: Int
                    private var entries: [CacheKey: Kept] = [:]
                    private var bytes = 0
                    private var uses = 0
                    private var writes = InFlightWrites()
                    private let hashKey = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

                    /// - Parameter limit: the total size in bytes. Defaults to 10 MB. One response may use a quarter of
                    ///   it.
                    public init(limit: Int = 10_000_000) { self.limit = max(0, limit) }

                    /// Returns an entry, and marks it as used.
                    public func entry(for key: CacheKey) -> CacheEntry? {
                        uses += 1
                        entries[key]?.lastUse = uses
                        return entries[key]?.entry
                    }

                    /// Stores an entry. If reading its body throws, rethrows the error and keeps the earlier entry.
                    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
                        let write = writes.begin(entry.head, for: key)
                        defer { writes.end(write) }
                        // The body may be a stream. Collect it, so it can be read any number of times.
                        let body = HTTPBody(try await entry.body.collect(upTo: limit / 4))
                        if writes.isStopped(write) { return }
                        // A head takes a few hundred bytes.
                        let size = Int(body.length ?? 0) + key.text.utf8.count + 1_000
                        drop(key)
                        uses += 1
                        entries[key] = Kept(entry: CacheEntry(head: entry.head, body: body), bytes: size, lastUse: uses)
                        bytes += size
                        while bytes > limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                            drop(oldest.key)
                        }
                    }

                    /// Removes an entry.
                    public func remove(_ key: CacheKey) {
                        writes.stop(key)
                        drop(key)
                    }

                    private func drop(_ key: CacheKey) { bytes -= entries.removeValue(forKey: key)?.bytes ?? 0 }

                    /// Removes the entries that match.
                    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
                        writes.stop(where: matches)
                        for (key, kept) in entries where matches(kept.entry.head) { drop(key) }
                    }

                    /// A key for hashing values that must not be stored in plain text. It lives as long as the entries.
                    public func secret() -> Data { hashKey }
                }

                """,
            tests: """
                import Errand
                import ErrandCache
                import ErrandCacheTesting
                import \(name.module)
                import ErrandTesting
                import Testing

                @Suite("\(name.type)")
                struct \(name.type)Tests {
                    @Test("passes the store suite", arguments: CacheStoreSuite.cases)
                    func conformance(each: CacheStoreSuite.Case) async throws { try await each.run { \(name.type)() } }

                    @Test("serves the second of two requests")
                    func served() async throws {
                        let stub = StubTransport(.text("page"))
                        let cache = ResponseCache(\(name.type)(), policy: .timed(.seconds(60)))
                        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [cache])
                        let first = try await agent.send(Call<String>(.get, "page"))
                        await cache.flush()
                        let second = try await agent.send(Call<String>(.get, "page"))
                        #expect(first.http.source == .network && second.http.source.isCache)
                        #expect(second.value == "page" && stub.received.count == 1)
                    }

                    @Test("removes the least recently used entry")
                    func eviction() async throws {
                        let cache = ResponseCache(\(name.type)(limit: 5_000), policy: .timed(.seconds(60)))
                        let stub = StubTransport(.text(String(repeating: "a", count: 800)))
                        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [cache])
                        for path in ["first", "second", "third", "fourth"] {
                            _ = try await agent.send(Call<String>(.get, path))
                            await cache.flush()
                        }
                        let newest = try await agent.send(Call<String>(.get, "fourth")).http.source
                        let oldest = try await agent.send(Call<String>(.get, "first")).http.source
                        #expect(newest.isCache && !oldest.isCache)
                    }
                }

                """)
    }
}
