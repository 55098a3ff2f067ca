import Errand

/// The search for the stored response that matches a request, entry by entry: names the key to read next, and takes
/// what was read.
///
/// Of several that match, it finds the one whose header names were stored last.
struct HTTPSearch: Sendable {
    enum Outcome: Sendable {
        case found(CacheHandler.StoredResponse)
        case nothing(CacheStatus.Forward)

        var found: CacheHandler.StoredResponse? {
            if case .found(let found) = self { found } else { nil }
        }
    }

    private enum Place { case record, url, variant }

    private let lookup: CacheHandler.HTTPLookup
    private var place: Place
    /// The serial number with which the entry must have been stored.
    private var serial: UInt64 = 0
    /// The header names of the variants that have not been read yet.
    private var variants: ArraySlice<[String]> = []
    /// The key to read next; nil at the end.
    private(set) var key: CacheKey?
    private(set) var outcome = Outcome.nothing(.uriMiss)

    init(_ lookup: CacheHandler.HTTPLookup) {
        self.lookup = lookup
        place = lookup.isOwned ? .record : .url
        key = lookup.isOwned ? CacheKeyBuilder.record(of: lookup.url) : lookup.key
    }

    /// Takes the entry of the key; nil if there is none.
    mutating func take(_ entry: CacheEntry?) {
        guard let read = key else { return }
        key = nil
        switch place {
        case .record:
            guard let entry else { return }
            (place, key, serial) = (.url, lookup.key, entry.head.serial)
        case .url:
            guard let entry, entry.head.generation == serial else { return }
            switch entry.head.kind {
            case .http: outcome = .found(CacheHandler.StoredResponse(key: read, entry: entry))
            case .index:
                (place, serial, variants) = (.variant, entry.head.serial, entry.head.variants[...])
                (key, outcome) = (nextVariant(), .nothing(.varyMiss))
            case .timed: return
            }
        case .variant:
            // A variant of another generation was invalidated with an earlier index.
            if let entry, entry.head.kind == .http, entry.head.generation == serial {
                outcome = .found(CacheHandler.StoredResponse(key: read, entry: entry))
            } else {
                key = nextVariant()
            }
        }
    }

    private mutating func nextVariant() -> CacheKey? {
        variants.popFirst().map {
            CacheKeyBuilder.variant(of: lookup.key, names: $0, headers: lookup.headers, lookup.hasher)
        }
    }
}
