public import ErrandHTTP
import ErrandSupport

/// The settings of a ``NetworkAgent`` for all of its requests.
public struct AgentConfiguration: Sendable {
    /// The URL that relative paths are appended to; its path is kept, with or without a slash at its end. A query
    /// or a fragment throws ``ErrandError/Code/invalidURL``. Empty for an agent whose requests have absolute URLs:
    /// it has no origin of its own then, so that only `trustedOrigins` see its secrets.
    public var baseURL: String
    /// Further bases, for requests that choose one of them by ``BaseChoice/named(_:)``; none by default.
    public var namedBaseURLs: [String: String] = [:]
    /// The header fields of every request; a request's own replace them by name. `User-Agent` and `Accept-Language` by
    /// default.
    public var headers = standardHeaders
    /// The credentials of every request that has none of its own; none by default. Like the sensitive ones among
    /// `headers` they are sent to the origins of `baseURL` and `namedBaseURLs` and to `trustedOrigins`, and to no
    /// other.
    public var authorization: Authorization?
    /// The origins that may see the agent's secrets beside those of its base URLs; none by default.
    public var trustedOrigins: TrustedOrigins = []
    /// The longest inactivity in one attempt; 60 seconds by default.
    public var timeout: Duration = .seconds(60)
    /// The time for a whole call; none by default.
    public var deadline: Duration?
    /// 20 hops, never from https to http, by default.
    public var redirects = RedirectPolicy.standard
    /// In the order of the array within each stage, before the request's own.
    public var filters: [any Filter] = []
    /// Notified in the order of the array, before the request's own.
    public var accessories: [any Accessory] = []
    /// Decodes the outputs of requests that have no decoder of their own; a `JSONDecoder` by default.
    public var decoder: any BodyDecoder = JSONDecoder()
    /// Encodes the bodies of requests that have no encoder of their own; a `JSONEncoder` by default.
    public var encoder: any BodyEncoder = JSONEncoder()
    /// The maximum number of bytes of a body in memory; more throw ``ErrandError/Code/bodyTooLarge``. 64 MiB by default.
    public var maximumBodyBytes = 64 << 20
    /// The maximum number of bytes of a body that an error keeps; 64 KiB by default.
    public var maximumErrorBodyBytes = 64 << 10
    /// Returns the error that a failure of any request becomes, before the request's `mapError`; the same one by
    /// default. Not called for a cancellation.
    public var mapError: @Sendable (any Error) -> any Error = { $0 }

    /// Makes a configuration with the defaults.
    public init(baseURL: String = "") { self.baseURL = baseURL }

    private static let standardHeaders: HTTPHeaders = {
        let client = "\(SystemInfo.program) (\(SystemInfo.system)) Errand/\(ErrandInfo.version)"
        let languages = SystemInfo.acceptLanguage(SystemInfo.languages)
        return languages.isEmpty ? [.userAgent: client] : [.userAgent: client, .acceptLanguage: languages]
    }()
}

extension AgentConfiguration {
    /// The part of it that the way of a request needs, made ready.
    func settings(for transport: any Transport) -> PipelineSettings {
        PipelineSettings(
            baseURL: baseURL, namedBaseURLs: namedBaseURLs, trustedOrigins: trustedOrigins, headers: headers,
            authorization: authorization, timeout: timeout, redirects: redirects, filters: filters, decoder: decoder,
            encoder: encoder, maximumBodyBytes: maximumBodyBytes, maximumErrorBodyBytes: maximumErrorBodyBytes,
            mapError: mapError, transport: transport)
    }
}
