public import ErrandHTTP
import ErrandSupport

/// The settings of a ``NetworkAgent``.
public struct AgentConfiguration: Sendable {
    /// The absolute http or https URL that relative paths are appended to, such as `https://example.com/v1`. Paths are
    /// appended to the base URL's own path. If the base URL has a query or a fragment, requests throw
    /// ``ErrandError/Code/invalidURL``.
    ///
    /// The base URL can be empty if all requests have absolute URLs. A request with a relative path then throws the
    /// same error, and only `trustedOrigins` receive the agent's secrets.
    public var baseURL: String
    /// More base URLs, selected with ``RequestBaseURL/named(_:)``. Defaults to empty.
    public var namedBaseURLs: [String: String] = [:]
    /// Header fields for every request that doesn't set them. Defaults to `User-Agent` and `Accept-Language`.
    public var headers = standardHeaders
    /// The credentials for requests without their own. Defaults to nil. The credentials, like sensitive `headers`, are
    /// sent only to the origins of `baseURL` and `namedBaseURLs`, and to `trustedOrigins`.
    public var authorization: Authorization?
    /// Origins that may receive the agent's secrets, such as `authorization`, in addition to the base URLs' origins.
    /// Defaults to empty.
    public var trustedOrigins: TrustedOrigins = []
    /// How long an attempt can go without sending or receiving bytes. Defaults to 60 seconds.
    public var timeout: Duration = .seconds(60)
    /// The time limit for a whole call, including redirects, retries and waits. Defaults to nil, no limit.
    public var deadline: Duration?
    /// Which redirects to follow. Defaults to at most 20 in a row, never from https to http.
    public var redirects = RedirectPolicy.standard
    /// Filters for every request, in this order within each stage, before the request's filters. Defaults to empty.
    public var filters: [any Filter] = []
    /// Accessories that observe every request, in this order, before the request's accessories. Defaults to empty.
    public var accessories: [any Accessory] = []
    /// Decodes the responses of requests without their own decoder. Defaults to a `JSONDecoder`.
    public var decoder: any BodyDecoder = JSONDecoder()
    /// Encodes `Encodable` request bodies without their own encoder. Defaults to a `JSONEncoder`.
    public var encoder: any BodyEncoder = JSONEncoder()
    /// The most bytes of a response body to collect in memory. A longer body throws ``ErrandError/Code/bodyTooLarge``.
    /// Defaults to 64 MiB.
    public var maximumBodyBytes = 64 << 20
    /// The most body bytes of a rejected response that an error keeps. Defaults to 64 KiB.
    public var maximumErrorBodyBytes = 64 << 10
    /// Maps the error of any request, before the request's `mapError`. The agent doesn't call this closure for
    /// cancellations and for errors that conform to ``ExpectedError``. Defaults to returning the error unchanged.
    public var mapError: @Sendable (any Error) -> any Error = { $0 }

    /// Creates a configuration with default settings.
    public init(baseURL: String = "") { self.baseURL = baseURL }

    private static let standardHeaders: HTTPHeaders = {
        let client = "\(SystemInfo.program) (\(SystemInfo.system)) Errand/\(ErrandInfo.version)"
        let languages = SystemInfo.acceptLanguage(SystemInfo.languages)
        return languages.isEmpty ? [.userAgent: client] : [.userAgent: client, .acceptLanguage: languages]
    }()
}

extension AgentConfiguration {
    func settings(for transport: any Transport) -> PipelineSettings {
        PipelineSettings(
            baseURL: baseURL, namedBaseURLs: namedBaseURLs, trustedOrigins: trustedOrigins, headers: headers,
            authorization: authorization, timeout: timeout, redirects: redirects, filters: filters, decoder: decoder,
            encoder: encoder, maximumBodyBytes: maximumBodyBytes, maximumErrorBodyBytes: maximumErrorBodyBytes,
            mapError: mapError, transport: transport)
    }
}
