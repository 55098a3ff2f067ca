public import ErrandHTTP
import ErrandSupport

/// The settings of a ``NetworkAgent`` that apply to all of its requests.
public struct AgentConfiguration: Sendable {
    /// The URL that relative paths are appended to. Its path is kept, with or without a trailing slash. A query or a
    /// fragment throws ``ErrandError/Code/invalidURL``.
    ///
    /// It can be empty if all requests have absolute URLs. The agent then has no origin, so only `trustedOrigins`
    /// receive its secrets.
    public var baseURL: String
    /// Additional base URLs, which requests select with ``BaseChoice/named(_:)``. Empty by default.
    public var namedBaseURLs: [String: String] = [:]
    /// Header fields for every request. A request's own fields of the same name replace them. Defaults to `User-Agent`
    /// and `Accept-Language`.
    public var headers = standardHeaders
    /// The credentials for every request that doesn't have its own. Defaults to nil.
    ///
    /// Like sensitive fields in `headers`, they're sent only to the origins of `baseURL` and `namedBaseURLs`, and to
    /// `trustedOrigins`.
    public var authorization: Authorization?
    /// Further origins that may receive the agent's secrets, in addition to its base URLs. Empty by default.
    public var trustedOrigins: TrustedOrigins = []
    /// The longest time without activity within one attempt. Defaults to 60 seconds.
    public var timeout: Duration = .seconds(60)
    /// The time limit for a whole call. Defaults to nil, which is no limit.
    public var deadline: Duration?
    /// Which redirects to follow. Defaults to 20 hops, and never from https to http.
    public var redirects = RedirectPolicy.standard
    /// Filters for every request. Within each stage they run in this order, before the request's filters.
    public var filters: [any Filter] = []
    /// Accessories for every request, notified in this order, before the request's accessories.
    public var accessories: [any Accessory] = []
    /// Decodes the output of requests without their own decoder. Defaults to a `JSONDecoder`.
    public var decoder: any BodyDecoder = JSONDecoder()
    /// Encodes the body of requests without their own encoder. Defaults to a `JSONEncoder`.
    public var encoder: any BodyEncoder = JSONEncoder()
    /// The maximum size of a body in memory, in bytes. A larger body throws ``ErrandError/Code/bodyTooLarge``. Defaults
    /// to 64 MiB.
    public var maximumBodyBytes = 64 << 20
    /// The maximum number of body bytes that an error keeps. Defaults to 64 KiB.
    public var maximumErrorBodyBytes = 64 << 10
    /// Maps the error of any request, before the request's `mapError`. Returns the error unchanged by default. Not
    /// called for cancellations.
    public var mapError: @Sendable (any Error) -> any Error = { $0 }

    /// Creates a configuration with the defaults.
    public init(baseURL: String = "") { self.baseURL = baseURL }

    private static let standardHeaders: HTTPHeaders = {
        let client = "\(SystemInfo.program) (\(SystemInfo.system)) Errand/\(ErrandInfo.version)"
        let languages = SystemInfo.acceptLanguage(SystemInfo.languages)
        return languages.isEmpty ? [.userAgent: client] : [.userAgent: client, .acceptLanguage: languages]
    }()
}

extension AgentConfiguration {
    /// Prepares the settings that the request pipeline needs.
    func settings(for transport: any Transport) -> PipelineSettings {
        PipelineSettings(
            baseURL: baseURL, namedBaseURLs: namedBaseURLs, trustedOrigins: trustedOrigins, headers: headers,
            authorization: authorization, timeout: timeout, redirects: redirects, filters: filters, decoder: decoder,
            encoder: encoder, maximumBodyBytes: maximumBodyBytes, maximumErrorBodyBytes: maximumErrorBodyBytes,
            mapError: mapError, transport: transport)
    }
}
