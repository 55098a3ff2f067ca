import ErrandHTTP
import ErrandSupport
import ErrandHTTPSyntax
import ErrandEssentials

/// A configuration made ready: parsed once, then used by every start until the next change.
final class PipelineSettings: Sendable {
    let configuration: AgentConfiguration
    /// Those of the configuration, checked once.
    let headers: HTTPHeaders
    let transport: any Transport
    /// Those of the configuration, with the members of groups in their places.
    let filters: [any Filter]
    /// All that a request passes which brings no filter of its own.
    let chain: Next
    private let base: Result<BaseURL, any Error>
    private let namedBases: [String: Result<BaseURL, any Error>]

    init(_ configuration: AgentConfiguration, transport: any Transport) {
        self.configuration = configuration
        headers = configuration.headers.checked
        self.transport = transport
        filters = configuration.filters.ungrouped()
        chain = RequestPipeline.chain(filters, [], transport)
        base = Result { try BaseURL(configuration.baseURL) }
        namedBases = configuration.namedBaseURLs.mapValues { text in Result { try BaseURL(text) } }
    }

    /// The request's, or the agent's. Not in line, where it would enlarge the frame of every request.
    @inline(never) func decoder(of request: some Request) -> any BodyDecoder {
        request.decoder ?? configuration.decoder
    }

    /// The base URL that a request chooses.
    func base(_ choice: BaseChoice) throws -> BaseURL {
        switch choice.kind {
        case .standard: return try base.get()
        case .named(let name):
            guard let base = namedBases[name] else {
                throw URLSyntax.Fault(description: "the agent has no base URL of the name \(name.debugDescription)")
            }
            return try base.get()
        case .url(let text): return text == configuration.baseURL ? try base.get() : try BaseURL(text)
        }
    }

    /// Whether a URL has the origin of one of the base URLs, or a trusted one.
    func trusts(_ url: URL) -> Bool {
        if case .success(let base) = base, base.isOrigin(of: url) { return true }
        for case .success(let base) in namedBases.values where base.isOrigin(of: url) { return true }
        return configuration.trustedOrigins.contains(url)
    }
}
