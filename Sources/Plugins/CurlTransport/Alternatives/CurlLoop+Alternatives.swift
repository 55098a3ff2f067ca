#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax

// HTTP/3 with the servers that offer it, under the driver lock.
extension CurlLoop {
    /// The offers that the file of the configuration has.
    static func alternatives(in file: AlternativeFile?) -> AlternativeTable {
        var table = AlternativeTable()
        let now = Nanoseconds.now
        for offer in file?.read(at: now, date: Date()) ?? [] { table.add(offer, at: now) }
        return table
    }

    /// Gives a transfer that begins the alternative of its origin.
    func findRoute(of transfer: Transfer, _ origin: Origin) {
        guard followsAlternatives, transfer.target.isSecure, !transfer.attempts.avoidsHTTP3, !alternatives.isEmpty
        else {
            return
        }
        transfer.route = alternatives.route(for: origin.name, at: now)
    }

    /// A transfer leaves its alternative; one that tried it without a result leaves that to another transfer.
    func leaveRoute(of transfer: Transfer) {
        guard let route = transfer.route, let origin = transfer.origin else { return }
        if route.isProbe { alternatives.withdraw(origin.name) }
        transfer.route = nil
    }

    /// The head of a final response is complete: it confirms an alternative, and may name others.
    func noteAlternatives(of transfer: Transfer) {
        guard followsAlternatives, transfer.target.isSecure, let origin = transfer.origin else { return }
        if let route = transfer.route {
            if transfer.head.version != "3" {
                if route.isProbe { alternatives.fail(origin.name, at: now) }
            } else if transfer.head.status == Self.misdirected {
                // RFC 7838, section 6: the alternative does not serve this origin.
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

    /// 421 (RFC 9110, section 15.5.20).
    static let misdirected = 421

    /// A transfer over an alternative has ended with an error that is none of its user's.
    func noteFailure(of transfer: Transfer, _ code: Int32? = nil) {
        guard transfer.route != nil, let origin = transfer.origin else { return }
        // A stream that was refused is sent again in the same way.
        if transfer.attempts.isToRestart && !transfer.attempts.avoidsHTTP3 { return }
        // A stream may end alone, and its connection stay.
        let isLost = code == CurlCode.receiveError || code == CurlCode.sendError
        if transfer.head.received == 0 || isLost { alternatives.fail(origin.name, at: now) }
    }

    private func saveAlternatives() {
        alternativeWriter?.save(.init(offers: alternatives.offers(at: now), now: now))
    }
}
#endif
