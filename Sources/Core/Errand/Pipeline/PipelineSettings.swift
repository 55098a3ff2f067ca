import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// The part of a configuration that requests need. Parsed once each time the configuration changes.
final class PipelineSettings: Sendable {
    let headers: HTTPHeaders
    let authorization: Authorization?
    let timeout: Duration
    let redirects: RedirectPolicy
    let decoder: any BodyDecoder
    let encoder: any BodyEncoder
    let maximumBodyBytes: Int
    let maximumErrorBodyBytes: Int
    let mapError: @Sendable (any Error) -> any Error
    let transport: any Transport
    /// The agent's filters. Groups are replaced by their members.
    let filters: [any Filter]
    /// The chain for requests that don't add filters.
    let chain: Next
    let lastMarks = LastMarks()
    /// The last type of request that doesn't provide filters.
    let filterless = PlainType()
    private let baseURL: String
    private let base: Result<BaseURL, any Error>
    private let namedBases: [String: Result<BaseURL, any Error>]
    private let trustedOrigins: TrustedOrigins

    init(
        baseURL: String, namedBaseURLs: [String: String], trustedOrigins: TrustedOrigins, headers: HTTPHeaders,
        authorization: Authorization?, timeout: Duration, redirects: RedirectPolicy, filters: [any Filter],
        decoder: any BodyDecoder, encoder: any BodyEncoder, maximumBodyBytes: Int, maximumErrorBodyBytes: Int,
        mapError: @escaping @Sendable (any Error) -> any Error, transport: any Transport
    ) {
        (self.baseURL, self.trustedOrigins) = (baseURL, trustedOrigins)
        base = Result { try BaseURL(baseURL) }
        namedBases = namedBaseURLs.mapValues { text in Result { try BaseURL(text) } }
        (self.headers, self.authorization) = (headers.checked, authorization)
        (self.timeout, self.redirects) = (timeout, redirects)
        (self.decoder, self.encoder) = (decoder, encoder)
        (self.maximumBodyBytes, self.maximumErrorBodyBytes) = (maximumBodyBytes, maximumErrorBodyBytes)
        (self.mapError, self.transport) = (mapError, transport)
        self.filters = filters.ungrouped().withoutCovered(by: [])
        chain = FilterChain.make(self.filters, before: transport)
    }

    /// Kept out of line, because inlining would enlarge the async frame of every request.
    @inline(never) func decoder(of request: some Request) -> any BodyDecoder { request.decoder ?? decoder }

    func redirects(of request: some Request) -> RedirectPolicy { request.redirects ?? redirects }

    func base(_ choice: RequestBaseURL) throws -> BaseURL {
        switch choice.kind {
        case .standard: return try base.get()
        case .named(let name):
            guard let base = namedBases[name] else {
                throw URLSyntax.Fault(description: "the agent has no base URL named \(name.debugDescription)")
            }
            return try base.get()
        case .url(let text): return text == baseURL ? try base.get() : try BaseURL(text)
        }
    }

    func trusts(_ url: URL) -> Bool {
        let origin = URLSyntax.origin(of: url)
        if case .success(let base) = base, base.isOrigin(origin) { return true }
        for case .success(let base) in namedBases.values where base.isOrigin(origin) { return true }
        return trustedOrigins.contains(url)
    }
}
