#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The origins that offer HTTP/3, and the state of their offers (RFC 7838).
///
/// At first, a single request tries an offer, on a new QUIC connection that competes with a TCP connection. After a
/// response over HTTP/3, all requests use the offer. A failed offer is ignored for five minutes, and twice as long
/// after each further failure.
struct AlternativeTable {
    struct Route: Equatable {
        let host: String
        let port: Int
        let isProbe: Bool
    }

    struct Offer: Equatable {
        var origin: String
        var host: String
        var port: Int
        /// When the offer expires, in nanoseconds on the loop's clock.
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
        /// The offer's expiration as written to the file.
        var kept: UInt64

        init(_ offer: Offer) { (self.offer, kept) = (offer, offer.expires) }
    }

    private var entries: [String: Entry] = [:]

    /// The maximum number of origins. With more, the offers that expire first are removed.
    static let maximumOrigins = 1_000
    static let protocolName = "h3"
    static let firstPause = Nanoseconds.of(.seconds(300))
    static let longestPause = Nanoseconds.of(.seconds(86_400))
    /// The maximum age of an offer in seconds.
    static let longestAge = 365 * 86_400

    var isEmpty: Bool { entries.isEmpty }

    func offers(at now: UInt64) -> [Offer] { entries.values.map(\.offer).filter { $0.expires > now } }

    /// Returns the route for a request to an origin, or `nil` if there's no usable offer or another request is already
    /// trying it.
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

    /// Records the offers in a response. Returns `true` if the file should be written again. `services` is `nil` for
    /// `clear`.
    mutating func learn(_ services: [AlternativeService]?, of origin: String, host: String, at now: UInt64) -> Bool {
        guard let services else { return entries.removeValue(forKey: origin) != nil }
        guard let service = services.first(where: { $0.protocolName == Self.protocolName && $0.maximumAge > 0 }) else {
            // If a server leaves an alternative out of the field, it withdraws the alternative (section 3).
            return entries.removeValue(forKey: origin) != nil
        }
        let age = Nanoseconds.of(.seconds(min(service.maximumAge, Self.longestAge)))
        return add(
            Offer(
                origin: origin, host: service.host ?? host, port: service.port, expires: Nanoseconds.sum(now, age)),
            at: now)
    }

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

    // MARK: Results of requests

    mutating func confirm(_ origin: String) {
        entries[origin]?.state = .confirmed
        entries[origin]?.failures = 0
    }

    /// Ignores an offer for a while. Call this if the alternative couldn't be reached, lost its connection, or was
    /// slower than TCP.
    mutating func fail(_ origin: String, at now: UInt64) {
        guard var entry = entries[origin] else { return }
        if case .broken(let end) = entry.state, end > now { return }
        let pause = min(Self.firstPause << UInt64(min(entry.failures, 16)), Self.longestPause)
        entry.state = .broken(until: Nanoseconds.sum(now, pause))
        entry.failures += 1
        entries[origin] = entry
    }

    /// Allows another request to try the offer. Call this if the request that tried it ended without a result.
    mutating func withdraw(_ origin: String) {
        if entries[origin]?.state == .probing { entries[origin]?.state = .offered }
    }
}

// Uses HTTP/3 with servers that offer it, under the driver lock.
extension CurlLoop {
    static func alternatives(in file: AlternativeFile?) -> AlternativeTable {
        var table = AlternativeTable()
        let now = Nanoseconds.now
        for offer in file?.read(at: now, date: Date()) ?? [] { table.add(offer, at: now) }
        return table
    }

    func findRoute(of transfer: Transfer, _ origin: Origin) {
        guard followsAlternatives, transfer.target.isSecure, !transfer.attempts.avoidsHTTP3, !alternatives.isEmpty
        else {
            return
        }
        transfer.route = alternatives.route(for: origin.name, at: now)
    }

    func leaveRoute(of transfer: Transfer) {
        guard let route = transfer.route, let origin = transfer.origin else { return }
        if route.isProbe { alternatives.withdraw(origin.name) }
        transfer.route = nil
    }

    func noteAlternatives(of transfer: Transfer) {
        guard followsAlternatives, transfer.target.isSecure, let origin = transfer.origin else { return }
        if let route = transfer.route {
            if transfer.head.version != "3" {
                if route.isProbe { alternatives.fail(origin.name, at: now) }
            } else if transfer.head.status == Self.misdirected {
                // The alternative doesn't serve this origin (RFC 7838, section 6).
                alternatives.fail(origin.name, at: now)
            } else {
                alternatives.confirm(origin.name)
            }
        }
        let values = transfer.head.headers.values(of: .altSvc)
        guard !values.isEmpty, let host = transfer.request.url.host.flatMap(HostName.normalized) else { return }
        if alternatives.learn(AlternativeService.parse(values), of: origin.name, host: host, at: now) {
            saveAlternatives()
        }
    }

    static let misdirected = 421

    /// Records that a request over an alternative failed. Don't call this if the caller ended the transfer.
    func noteFailure(of transfer: Transfer, _ code: Int32? = nil) {
        guard transfer.route != nil, let origin = transfer.origin else { return }
        // If the server refused the stream, the request is sent again over the same alternative, which stays usable.
        if transfer.attempts.isToRestart && !transfer.attempts.avoidsHTTP3 { return }
        // If a response began and the connection didn't fail, perhaps only the stream ended. The offer then stays
        // usable.
        let isLost = code == CurlCode.receiveError || code == CurlCode.sendError
        if transfer.head.received == 0 || isLost { alternatives.fail(origin.name, at: now) }
    }

    private func saveAlternatives() {
        alternativeWriter?.save(.init(offers: alternatives.offers(at: now), now: now))
    }
}
#endif
