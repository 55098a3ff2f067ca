#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax

// HTTP/3 with servers that offer it, under the driver lock.
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

    /// If the transfer tried the alternative without a result, another one may try.
    func leaveRoute(of transfer: Transfer) {
        guard let route = transfer.route, let origin = transfer.origin else { return }
        if route.isProbe { alternatives.withdraw(origin.name) }
        transfer.route = nil
    }

    /// The head of a final response confirms an alternative, and may name others.
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

    /// 421 (RFC 9110, section 15.5.20).
    static let misdirected = 421

    /// A transfer over an alternative has failed, and its user wasn't the reason.
    func noteFailure(of transfer: Transfer, _ code: Int32? = nil) {
        guard transfer.route != nil, let origin = transfer.origin else { return }
        // A refused stream is sent again the same way.
        if transfer.attempts.isToRestart && !transfer.attempts.avoidsHTTP3 { return }
        // A stream may end alone, without its connection.
        let isLost = code == CurlCode.receiveError || code == CurlCode.sendError
        if transfer.head.received == 0 || isLost { alternatives.fail(origin.name, at: now) }
    }

    private func saveAlternatives() {
        alternativeWriter?.save(.init(offers: alternatives.offers(at: now), now: now))
    }
}
#endif
