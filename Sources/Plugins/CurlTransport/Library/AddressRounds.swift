#if os(Linux) || os(Android)
import CErrandCurl
import Errand

/// Divides the time to connect among a host's addresses, for libcurl versions that give each address half of the
/// remaining time.
///
/// With a limit of 30 seconds, such a version would try the second address after 15 seconds. Instead, a first round
/// gives each address a short time, and a second round uses the remaining time. Name lookups and handshakes after TCP's
/// don't count toward the short time.
struct AddressRounds {
    let limit: UInt64
    /// Extra time that libcurl gets if the loop itself ends the request at the limit.
    private let margin: UInt64
    private let hasTwo: Bool
    /// When the first round began. `nil` during the first round.
    private(set) var begun: UInt64?
    private var lookup: UInt64?
    private var isEstablished = false

    /// The time for the first round. If a host has a single address, libcurl gives it the whole time. If it has
    /// several, libcurl gives the first address half of the time, which is enough to resend a lost packet (RFC 6298).
    private static let first = Nanoseconds.of(milliseconds: 4_000)
    private static let shortestMargin = Nanoseconds.of(milliseconds: 250)
    private static let longestMargin = Nanoseconds.of(milliseconds: 2_000)

    init(limit: UInt64, timeout: UInt64 = .max, isWatched: Bool, _ library: CurlLibrary) {
        let halves = library.avoids(.addressPatience) && library.reportsAttempts
        // libcurl must try the second address, after half of its time, before the loop ends the request.
        self.limit = halves || !isWatched ? min(limit, timeout) : limit
        let part = halves ? max(self.limit / 4, Self.shortestMargin) : .max
        margin = isWatched ? min(part, Self.longestMargin) : 0
        hasTwo = halves && self.limit >= 2 * Self.first
    }

    private var isFirst: Bool { hasTwo && begun == nil }
    private var whole: UInt64 { Nanoseconds.sum(limit, margin) }

    func start(at now: UInt64) -> UInt64 {
        if isFirst { return Self.first }
        guard let begun, now > begun else { return whole }
        return whole - min(whole, now - begun)
    }

    // The following functions return the new time to connect, counted from libcurl's start, or `nil` for no change.

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

    /// Ends a failed round. Returns whether a second round follows.
    mutating func goOn(after code: Int32, since start: UInt64, at now: UInt64) -> Bool {
        guard isFirst, !isEstablished, lookup == nil, now < Nanoseconds.sum(start, limit) else { return false }
        // A refusal this late means that an earlier address may have timed out.
        let wasRefused = code == CurlCode.couldNotConnect && now >= Nanoseconds.sum(start, Self.first / 2)
        guard code == CurlCode.timedOut || wasRefused else { return false }
        begun = start
        return true
    }

    /// Ends the rounds, because the connection is open. Another connection that libcurl opens by itself gets the whole
    /// time.
    mutating func end() -> UInt64? {
        (begun, lookup, isEstablished) = (nil, nil, false)
        return hasTwo ? whole : nil
    }
}

// Wakes libcurl when it must try a host's next address, under the driver lock.
extension CurlLoop {
    /// Records that libcurl has requested a socket. `descriptor` is -1 if that failed.
    func noteDialing(_ transfer: Transfer, _ descriptor: Int32) {
        guard library.avoids(.addressChange) else { return }
        if descriptor >= 0 {
            transfer.dialed.append(SocketTable.Hold(descriptor: descriptor, serial: sockets.serial))
        }
        // A new socket counts as unwatched, because libcurl never watches a socket that fails immediately.
        transfer.hasUnwatchedSocket = true
        if transfer.isDialing { return }
        transfer.isDialing = true
        dialing.append(transfer)
    }

    func wakeDialing() -> Bool {
        dialing.removeAll { transfer in
            if transfer.isDialing, transfer.index != nil, !transfer.isParked { return false }
            transfer.isDialing = false
            sockets.forgetClosed(transfer.dialed)
            transfer.dialed = []
            return true
        }
        var isAny = false
        for transfer in dialing where transfer.hasUnwatchedSocket {
            transfer.hasUnwatchedSocket = false
            transfer.handle?.wake()
            isAny = true
        }
        return isAny
    }

    func wakeConnections() -> Bool {
        guard connections.hasUnwatchedSocket else { return false }
        connections.hasUnwatchedSocket = false
        guard library.avoids(.addressChange) else { return false }
        var isAny = false
        for connection in connections.all.values where connection.phase == .opening && connection.hasUnwatchedSocket {
            connection.hasUnwatchedSocket = false
            connection.handle?.wake()
            isAny = true
        }
        return isAny
    }
}
#endif
