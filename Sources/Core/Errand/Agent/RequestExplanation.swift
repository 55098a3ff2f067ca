public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// Describes how an agent would process a request. Returned by ``NetworkAgent/explain(_:options:)``.
///
/// ```swift
/// print(agent.explain(GetUser(id: 7)))
/// // GET https://api.example.com/v1/users/7
/// //  1 call  cache, timed
/// //  2 call  redirects, at most 20
/// //  3 hop   transport CurlTransport
/// // status 200–299, content type application/json
/// ```
public struct RequestExplanation: Sendable, CustomStringConvertible {
    /// One step of the request pipeline: a filter, the redirects or the transport.
    public struct Step: Sendable, Hashable, CustomStringConvertible {
        /// Whether the step runs once per call, per hop, or per request that reaches the transport.
        public let stage: FilterStages
        /// The filter's ``Filter/explanation(for:)``, or a description of the redirects or the transport.
        public let text: String

        /// The stage and the text on one line.
        public var description: String {
            let name =
                switch stage {
                case .call: "call  "
                case .wire: "wire  "
                default: "hop   "
                }
            return name + text
        }
    }

    /// The request as built, with the changes that its call filters predict in ``Filter/preview(of:)``. A failure if
    /// the request can't be built.
    public let request: Result<HTTPRequest, any Error>
    /// The filters, the redirects and the transport, in order.
    public let steps: [Step]
    /// The conditions for the final response, in order: status, content type, checks. Filters can add more while the
    /// call runs.
    public let checks: [String]
    /// Known problems, each a sentence with the reason:
    ///
    /// - filters that are in the wrong order, that do the same work twice, or that the request expects but that are
    ///   missing
    /// - a path that drops the path of its base URL
    /// - a placeholder host below `.invalid`, which is never resolved (RFC 6761, section 6.4)
    /// - a filter that moves the request to an origin that may not receive its secrets
    ///
    /// When requests are sent, debug builds write these once to standard error, except placeholder hosts.
    public let problems: [String]

    /// The request, each step, the conditions and each problem, one per line. Secrets in the URL are masked, and
    /// control characters escaped.
    public var description: String {
        var lines: [String] = []
        switch request {
        case .success(let request): lines.append(request.description)
        case .failure(let error): lines.append("the request can't be built: \(error.briefDescription)")
        }
        for (index, step) in steps.enumerated() {
            let number = "\(index + 1)"
            lines.append(String(repeating: " ", count: max(0, 2 - number.count)) + "\(number) \(step)")
        }
        lines.append(checks.joined(separator: ", "))
        lines += problems.map { "problem: \($0)" }
        return lines.map { ControlCharacters.escaped($0) }.joined(separator: "\n")
    }
}

extension RequestExplanation {
    init(_ described: some Request, _ settings: PipelineSettings, callFilters: [any Filter], tags: Tags) {
        let chain = FilterChain.make(for: described, filters: callFilters, tags: tags, settings: settings).steps
        var moves: [String] = []
        request = Result {
            var found = try RequestBuilder(settings).validRequest(described, tags)
            for step in chain where step.stage == .call {
                let before = found
                found = try step.filter.preview(of: before)
                // Secrets stay with their origin, as in a request that is sent.
                guard let move = OriginMove(from: before, to: found), !settings.trusts(found.url) else { continue }
                var trust = OriginTrust(isTrusted: false)
                trust.withhold(from: &found, of: nil, before: before)
                if !move.secrets.isEmpty {
                    let name = step.filter.explanation(for: described)
                    moves.append("“\(name)” \(move.description): \(OriginMove.advice)")
                }
            }
            return found
        }
        steps = chain.map { Step(stage: $0.stage, text: Self.text(of: $0.filter, described, settings)) }
        problems =
            FilterOrder.allProblems(chain.map(\.filter), for: described) + PathProblem.problems(of: described, settings)
            + Self.placeholder(in: request) + moves
        let types = described.acceptableContentTypes.resolved(by: described.decoder ?? settings.decoder)
        checks =
            ["status \(described.acceptableStatuses)", "content type \(types)"]
            + ([described.outcomeCheck].compactMap(\.self) + described.checks).map { "check \($0.name)" }
    }

    private static func placeholder(in request: Result<HTTPRequest, any Error>) -> [String] {
        guard case .success(let request) = request, let host = request.host, host.hasSuffix(".invalid")
        else { return [] }
        return ["the host “\(host)” is a placeholder that no filter replaces, so it can't be resolved"]
    }

    private static func text(
        of filter: any Filter, _ described: some Request, _ settings: PipelineSettings
    ) -> String {
        guard filter is RedirectStep else { return filter.explanation(for: described) }
        let policy = settings.redirects(of: described)
        return policy.maximumHops > 0 ? "redirects, at most \(policy.maximumHops)" : "redirects are not followed"
    }
}
