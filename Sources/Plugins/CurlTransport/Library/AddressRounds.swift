#if os(Linux) || os(Android)
import Errand

/// The time that libcurl has for the addresses of a host, where it gives each of them half of the time that is left.
///
/// With a limit of 30 seconds the second address would be tried after 15 if the first one does not respond. Instead
/// libcurl gets a short time for a first round through the addresses, and all that is left for a second one: an address
/// that is merely slow has its chance, too. A name lookup and the handshakes after TCP's do not count as a part of the
/// short time.
struct AddressRounds {
    /// The time for the connection.
    let limit: UInt64
    /// The time that libcurl gets in addition, if the loop watches the limit too.
    private let margin: UInt64
    private let hasTwo: Bool
    /// The time at which the connection was begun; nil in the first round.
    private(set) var begun: UInt64?
    /// The time at which a name lookup began that has not ended.
    private var lookup: UInt64?
    /// A server listens.
    private var isEstablished = false

    /// One address has all of it, the first of several half of it: enough for a first packet that is lost and sent again
    /// after a second (RFC 6298).
    private static let first = Nanoseconds.of(milliseconds: 4_000)
    private static let shortestMargin = Nanoseconds.of(milliseconds: 250)
    private static let longestMargin = Nanoseconds.of(milliseconds: 2_000)

    /// - Parameters:
    ///   - limit: the time for the connection.
    ///   - timeout: the time for which the request allows inactivity, if that is shorter.
    init(limit: UInt64, timeout: UInt64 = .max, isWatched: Bool, _ library: CurlLibrary) {
        let halves = library.avoids(.addressPatience) && library.reportsAttempts
        // Half of it has to be over before the loop ends the request.
        self.limit = halves || !isWatched ? min(limit, timeout) : limit
        let part = halves ? max(self.limit / 4, Self.shortestMargin) : .max
        margin = isWatched ? min(part, Self.longestMargin) : 0
        hasTwo = halves && self.limit >= 2 * Self.first
    }

    private var isFirst: Bool { hasTwo && begun == nil }
    private var whole: UInt64 { Nanoseconds.sum(limit, margin) }

    /// The time that libcurl gets when it begins.
    func start(at now: UInt64) -> UInt64 {
        if isFirst { return Self.first }
        guard let begun, now > begun else { return whole }
        return whole - min(whole, now - begun)
    }

    // What libcurl gets from now on, counted from when it began; nil for no change.

    mutating func beginLookup(at now: UInt64) -> UInt64? {
        lookup = now
        return isFirst ? whole : nil
    }

    mutating func endLookup(at now: UInt64) -> UInt64? {
        guard let since = lookup else { return nil }
        lookup = nil
        return isFirst ? Nanoseconds.sum(Self.first, now - min(since, now)) : nil
    }

    mutating func establish() -> UInt64? {
        if !isFirst || isEstablished || lookup != nil { return nil }
        isEstablished = true
        return whole
    }

    /// Whether there is a second round after this code, with the time since `start` taken off.
    mutating func goOn(after code: Int32, since start: UInt64, at now: UInt64) -> Bool {
        guard isFirst, !isEstablished, lookup == nil, now < Nanoseconds.sum(start, limit) else { return false }
        // The last address may have refused although another one was given up.
        let wasRefused = code == CurlCode.couldNotConnect && now >= Nanoseconds.sum(start, Self.first / 2)
        guard code == CurlCode.timedOut || wasRefused else { return false }
        begun = start
        return true
    }

    /// The connection is there. Another one has rounds of its own, unless libcurl makes it by itself.
    mutating func end() -> UInt64? {
        (begun, lookup, isEstablished) = (nil, nil, false)
        return hasTwo ? whole : nil
    }
}
#endif
