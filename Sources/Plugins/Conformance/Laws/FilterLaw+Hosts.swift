import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about filters that act only on a certain host.
extension FilterLaw {
    /// The law that a filter doesn't treat other hosts like its own host.
    public static let lookalikes = FilterLaw(
        "lookalikes", "law: what a filter does only for a host isn't done for hosts that look alike",
        advice: """
            Compare the whole host: `exchange.http.host == "api.example.com"`, or `hasSuffix(".example.com")` with the \
            dot. The beginning of a URL, a part of a host and a part of a URL also occur at other hosts. Send a secret \
            only with the scheme and port that you know. If the filter knows another origin, pass a sample with its URL.
            """,
        share: 10,
        exchanges: { [LawExchange.random([.get, .get, .post], &$0)] }
    ) { bench, exchanges in
        guard let home = exchanges.first.flatMap({ LawHome($0) }) else { return nil }
        let known = Set(bench.samples.compactMap { LawHome($0)?.origin })
        let (first, second) = (try await actions(bench, home.exchange), try await actions(bench, home.exchange))
        var own = Set(first.names).intersection(second.names)
        if own.isEmpty { return nil }
        if let violation = try await secretsElsewhere(bench, home, first, known) { return violation }
        for stranger in LawHome.strangers where stranger != home.origin {
            own.subtract(try await actions(bench, home.moved(to: stranger)).names)
        }
        // Skip a filter that acts on every host.
        if own.isEmpty { return nil }
        for other in home.lookalikes where !known.contains(LawHome(other)?.origin ?? "") {
            guard let action = try await actions(bench, other).names.filter(own.contains).min() else { continue }
            return LawViolation(
                expected: "nothing for \(other.url) that the filter does only for \(home.origin)", came: action)
        }
        return nil
    }

    /// A secret that the filter adds for a host must not be sent to the host's other ports and schemes, and not to
    /// another host after a redirect.
    private static func secretsElsewhere(
        _ bench: LawBench, _ home: LawHome, _ actions: HostActions, _ known: Set<String>
    ) async throws -> LawViolation? {
        if actions.secrets.isEmpty { return nil }
        var redirected = home.exchange
        redirected.replies = [
            LawReply(307, headers: [.location: "\(LawHome.strangers[0])/v1/there"]), LawReply(),
        ]
        for (exchange, isRedirected) in home.siblings.map({ ($0, false) }) + [(redirected, true)] {
            let (run, _) = try bench.subject()
            for send in await run.play(exchange).sends {
                let found = actions.secrets.first { send.http.headers.values(of: $0.name).contains($0.value) }
                guard let secret = found, send.origin != home.origin, !known.contains(send.origin) else { continue }
                return LawViolation(
                    expected: "no secret of \(home.origin) in a request to \(send.origin)"
                        + (isRedirected ? ", after a redirect" : ""),
                    came: "the field \(secret.name), which the filter adds")
            }
        }
        return nil
    }

    private struct HostActions {
        var names: [String] = []
        var secrets: [HTTPHeaders.Field] = []
    }

    /// Returns how a call differs from the same call without the filter.
    private static func actions(_ bench: LawBench, _ exchange: LawExchange) async throws -> HostActions {
        let plain = await bench.control().play(exchange)
        let came = try await bench.subject().run.play(exchange)
        var actions = HostActions()
        guard let expected = plain.sends.first else { return actions }
        guard let send = came.sends.first else {
            actions.names.append(came.outcome.response == nil ? "an error" : "a response of the filter")
            return actions
        }
        let redaction = Redaction()
        for name in Set(send.http.headers.map(\.name) + expected.http.headers.map(\.name)) {
            let values = send.http.headers.values(of: name)
            if values == expected.http.headers.values(of: name) { continue }
            actions.names.append("a change of the field \(name)")
            actions.secrets += send.http.headers.filter { field in
                field.name == name && !field.value.isEmpty && !expected.http.headers.contains(name)
                    && (field.isSensitive || redaction.isSecret(name.rawName))
            }
        }
        if send.http.method != expected.http.method { actions.names.append("a change of the method") }
        if send.http.urlText != expected.http.urlText { actions.names.append("a change of the URL") }
        if send.body != expected.body { actions.names.append("a change of the body") }
        if send.timeout != expected.timeout { actions.names.append("a change of the timeout") }
        if send.isTrusted, !expected.isTrusted { actions.names.append("the trust of the agent") }
        if came.sends.count > plain.sends.count { actions.names.append("a repetition") }
        if came.outcome.kind != plain.outcome.kind { actions.names.append("another end of the call") }
        return actions
    }
}

/// The origin of an exchange, and origins that a careless comparison confuses with it.
struct LawHome {
    static let strangers = ["https://law.example", "https://a.law.test", "https://b.c.example"]

    let exchange: LawExchange
    let scheme: String
    let host: String
    let port: String
    let rest: String

    /// Fails if the URL isn't absolute.
    init?(_ exchange: LawExchange) {
        guard let mark = exchange.url.firstRange(of: "://") else { return nil }
        let after = exchange.url[mark.upperBound...]
        let authority = after.prefix { !"/?#".contains($0) }
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        self.exchange = exchange
        scheme = String(exchange.url[..<mark.lowerBound])
        host = String(authority[..<(colon ?? authority.endIndex)])
        port = String(authority[(colon ?? authority.endIndex)...])
        rest = String(after[authority.endIndex...])
        if host.isEmpty { return nil }
    }

    var origin: String { "\(scheme)://\(host)\(port)" }

    func moved(to origin: String) -> LawExchange { with("\(origin)\(rest)") }

    private func with(_ url: String) -> LawExchange {
        var copy = exchange
        (copy.url, copy.tags) = (url, copy.tags.filter { !$0.isAboutURL })
        return copy
    }

    /// The same requests to other servers, whose URLs contain the host.
    ///
    /// A subdomain doesn't look alike, because a filter may act on a whole domain. Errand refuses URLs with user
    /// information, such as `https://a.example@b.example`.
    var lookalikes: [LawExchange] {
        if host.hasPrefix("[") || host.allSatisfy({ $0.isNumber || $0 == "." }) { return [] }
        let labels = host.split(separator: ".")
        var hosts = ["\(host).law.example", "\(host)-law.example", "\(host).\(host).law.example"]
        // A dot in a pattern is any character.
        if labels.count > 2 { hosts.append(host.replacing(".", with: "-", maxReplacements: 1)) }
        for index in labels.indices.dropFirst(labels.count < 3 ? 0 : 1) where index < labels.count - 1 {
            let suffix = labels[index...].joined(separator: ".")
            let begin = labels[..<index].map { "\($0)." }.joined()
            hosts += ["\(begin)law-\(suffix)", "\(begin)law\(suffix)", "law-\(suffix)"]
        }
        let (path, query) = LawTarget.parts(rest)
        let paths = [
            "https://law.example/\(host)\(rest)", "https://law.example\(path)?law=\(scheme)://\(host)/",
            "https://law.example\(path)\(query.isEmpty ? "?" : "\(query)&")\(host)",
        ]
        return hosts.map { with("\(scheme)://\($0)\(port)\(rest)") } + paths.map { with($0) }
    }

    /// The same requests without encryption and to another port. A filter that knows a host without encryption doesn't
    /// protect its secrets.
    var siblings: [LawExchange] {
        if scheme.lowercased() != "https" { return [] }
        return ["http://\(host)", "https://\(host):8444"].filter { $0 != origin }.map { moved(to: $0) }
    }
}
