#if os(Linux) || os(Android)
import ErrandMessageSyntax

/// The origins that offer HTTP/3, and what has become of their offers (RFC 7838).
///
/// An offer is tried by one request first, on a connection of its own beside one over TCP. Once that has had its
/// response over HTTP/3, so do all others; an offer that has failed is left alone for five minutes, and twice as long
/// each time.
struct AlternativeTable {
    /// How a request may use the alternative of its origin.
    struct Route: Equatable {
        let host: String
        let port: Int
        /// Whether it is the one that tries the offer.
        let isProbe: Bool
    }

    /// An offer, as a file keeps it.
    struct Offer: Equatable {
        var origin: String
        var host: String
        var port: Int
        /// Nanoseconds, as the loop counts them.
        var expires: UInt64
    }

    private enum State: Equatable {
        case offered, probing, confirmed
        case broken(until: UInt64)
    }

    private struct Entry {
        var offer: Offer
        var state = State.offered
        var failures = 0
        /// The end that a caller was last told to keep.
        var kept: UInt64

        init(_ offer: Offer) { (self.offer, kept) = (offer, offer.expires) }
    }

    private var entries: [String: Entry] = [:]

    /// Beyond this number of origins, the offers that expire first are removed.
    static let maximumOrigins = 1_000
    /// HTTP/3 (RFC 9114) as TLS names it.
    static let protocolName = "h3"
    /// The time for which an offer is left alone that has failed once.
    static let firstPause = Nanoseconds.of(.seconds(300))
    static let longestPause = Nanoseconds.of(.seconds(86_400))
    /// The longest time for which an offer is believed.
    static let longestAge = 365 * 86_400

    var isEmpty: Bool { entries.isEmpty }

    /// The offers that have not expired.
    func offers(at now: UInt64) -> [Offer] { entries.values.map(\.offer).filter { $0.expires > now } }

    /// The route for a request that begins now; nil where none is known, or where another request tries it.
    mutating func route(for origin: String, at now: UInt64) -> Route? {
        guard var entry = entries[origin] else { return nil }
        guard entry.offer.expires > now else {
            entries[origin] = nil
            return nil
        }
        switch entry.state {
        case .confirmed: return Route(host: entry.offer.host, port: entry.offer.port, isProbe: false)
        case .probing: return nil
        case .broken(let end) where end > now: return nil
        case .broken, .offered:
            entry.state = .probing
            entries[origin] = entry
            return Route(host: entry.offer.host, port: entry.offer.port, isProbe: true)
        }
    }

    /// Takes in what a response says of the alternatives of its origin; true where a file is to keep the offers anew:
    /// for another offer than before, or one that ends much later.
    ///
    /// - Parameter services: the alternatives of its `Alt-Svc` fields; nil for `clear`.
    mutating func learn(_ services: [AlternativeService]?, of origin: String, host: String, at now: UInt64) -> Bool {
        guard let services else { return entries.removeValue(forKey: origin) != nil }
        guard let service = services.first(where: { $0.protocolName == Self.protocolName && $0.maximumAge > 0 }) else {
            // A server that names alternatives does not offer the others any more (section 3).
            return entries.removeValue(forKey: origin) != nil
        }
        let age = Nanoseconds.of(.seconds(min(service.maximumAge, Self.longestAge)))
        return add(
            Offer(
                origin: origin, host: service.host ?? host, port: service.port, expires: Nanoseconds.sum(now, age)),
            at: now)
    }

    /// Adds an offer; true where a file is to keep it.
    @discardableResult mutating func add(_ offer: Offer, at now: UInt64) -> Bool {
        if var known = entries[offer.origin], known.offer.host == offer.host, known.offer.port == offer.port {
            known.offer.expires = offer.expires
            let isMuchLater = offer.expires > Nanoseconds.sum(known.kept, (offer.expires - min(now, offer.expires)) / 2)
            if isMuchLater { known.kept = offer.expires }
            entries[offer.origin] = known
            return isMuchLater
        }
        if entries.count >= Self.maximumOrigins, entries[offer.origin] == nil { makeRoom(at: now) }
        entries[offer.origin] = Entry(offer)
        return true
    }

    private mutating func makeRoom(at now: UInt64) {
        entries = entries.filter { $0.value.offer.expires > now }
        let surplus = entries.count - Self.maximumOrigins * 9 / 10
        guard surplus > 0 else { return }
        for entry in entries.values.sorted(by: { $0.offer.expires < $1.offer.expires }).prefix(surplus) {
            entries[entry.offer.origin] = nil
        }
    }

    // MARK: What became of a request

    /// A request had its response over HTTP/3.
    mutating func confirm(_ origin: String) {
        entries[origin]?.state = .confirmed
        entries[origin]?.failures = 0
    }

    /// The alternative gave no connection, lost it, or was not as fast as TCP.
    mutating func fail(_ origin: String, at now: UInt64) {
        guard var entry = entries[origin] else { return }
        if case .broken(let end) = entry.state, end > now { return }
        let pause = min(Self.firstPause << UInt64(min(entry.failures, 16)), Self.longestPause)
        entry.state = .broken(until: Nanoseconds.sum(now, pause))
        entry.failures += 1
        entries[origin] = entry
    }

    /// The request that tried the offer has ended without a result; another one may try it.
    mutating func withdraw(_ origin: String) {
        if entries[origin]?.state == .probing { entries[origin]?.state = .offered }
    }
}
#endif
