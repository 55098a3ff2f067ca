public import Errand

/// Removes URL parts that don't matter to the server: fragments or tracking parameters. Create it with
/// `.withoutFragment` or `.withoutTracking`.
public struct StripFilter: URLTextFilter {
    /// The filter's name.
    public let name: String
    private let parameters: Set<String>?

    private init(_ name: String, _ parameters: Set<String>?) { (self.name, self.parameters) = (name, parameters) }

    /// Removes fragments.
    public static let fragments = StripFilter("fragment", nil)

    /// Removes the ``commonTracking`` parameters, parameters that start with `utm_`, and any in `more`.
    public static func tracking(_ more: [String] = []) -> StripFilter {
        StripFilter("tracking", commonTracking.union(more))
    }

    /// Common parameters that advertisers and newsletters add to links to track visitors.
    public static let commonTracking: Set<String> = [
        "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "mc_cid", "mc_eid", "igshid", "twclid",
        "ttclid", "yclid", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id", "srsltid",
    ]

    /// Removes the fragment or the parameters.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard let parameters else { return url.removeFragment() }
        url.removeQuery { name in name.hasPrefix("utm_") || parameters.contains(name) }
    }
}

extension URLFilter where Self == StripFilter {
    /// Removes fragments. They are never sent, but would create separate cache entries.
    public static var withoutFragment: StripFilter { .fragments }

    /// Removes `utm_…`, `gclid`, `fbclid` and similar parameters, and any others you pass.
    public static func withoutTracking(and more: String...) -> StripFilter { .tracking(more) }

    /// Removes `utm_…`, `gclid`, `fbclid` and similar parameters.
    public static var withoutTracking: StripFilter { .tracking() }
}
