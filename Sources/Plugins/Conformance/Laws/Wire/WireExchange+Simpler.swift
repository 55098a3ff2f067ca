import Errand

extension WireExchange {
    static func simpler(_ exchanges: [WireExchange], keepsCount: Bool) -> [[WireExchange]] {
        var results: [[WireExchange]] = []
        if exchanges.count > (keepsCount ? 2 : 1) {
            for index in exchanges.indices {
                results.append(exchanges.enumerated().filter { $0.offset != index }.map(\.element))
            }
        }
        for index in exchanges.indices {
            for simpler in exchanges[index].simpler {
                var copy = exchanges
                copy[index] = simpler
                results.append(copy)
            }
        }
        return results
    }

    private var simpler: [WireExchange] {
        let plain = WireExchange()
        var results: [WireExchange] = []
        func add(_ change: (inout WireExchange) -> Void) {
            var copy = self
            change(&copy)
            if copy != self, copy.isSensible { results.append(copy) }
        }
        add { $0 = plain }
        add { $0.reply = plain.reply }
        add { $0.headers = [:] }
        add { $0.body = .none }
        add { $0.isElsewhere = false }
        add { $0.target = plain.target }
        add { $0.method = .get }
        add { $0.isStreamed = false }
        add { $0.isDropped = false }
        add { $0.isReadSlowly = false }
        add { $0.isCancelled = false }
        for index in headers.indices { add { $0.headers = $0.headers.without(index) } }
        for index in furtherReplies.indices where furtherReplies.count > 1 {
            add { $0.furtherReplies.remove(at: index) }
        }
        for body in body.simpler { add { $0.body = body } }
        for target in LawTarget.simpler(target, fixed: 1) { add { $0.target = target } }
        for reply in reply.simpler { add { $0.reply = reply } }
        // The fault stays in the same part of the message while the message gets shorter.
        if let fault = reply.fault, let position = fault.position {
            for reply in reply.simpler {
                var copy = self
                copy.reply = reply
                let (before, after) = (WireImage(self), WireImage(copy))
                let moved = position < before.headEnd ? min(position, after.headEnd - 1) : after.headEnd + 1
                add { exchange in
                    exchange.reply = reply
                    exchange.reply.fault = fault.moved(to: moved)
                }
            }
        }
        return results
    }

    /// Whether the properties are consistent. For example, a GET has no body.
    private var isSensible: Bool {
        let image = WireImage(self)
        if body != .none, method == .get || method == .head { return false }
        if isReadSlowly, !isStreamed || reply.isPaced { return false }
        if isCancelled || isDropped {
            guard case .stall(let position) = reply.fault, image.hasBody else { return false }
            let end = image.completion.map { $0 - 1 } ?? image.bytes.count
            return position < end && (!isDropped || isStreamed && position > image.headEnd)
        }
        if case .resetUpload(let position) = reply.fault { return position < body.count }
        if case .malformed = reply.fault {
            return image.hasBody && !reply.body.data.isEmpty && image.outcome != .response(reply.body.data.count)
        }
        if let position = reply.fault?.position { return position <= image.bytes.count }
        return image.hasBody || reply.framing == .length
    }
}

extension WireBody {
    fileprivate var simpler: [WireBody] {
        switch self {
        case .none: []
        case .data(let count): count > 1 ? [.data(1), .data(count / 2)] : []
        case .file(let count): [.data(count)] + (count > 1 ? [.file(1)] : [])
        case .failing(let sizes): sizes.isEmpty ? [] : [.failing([]), .failing([1])]
        case .stream(let sizes, let isKnown, let isReplayable):
            [.data(count), .stream(sizes, isKnown: isKnown, isReplayable: true)]
                + (count > 1 ? [.stream([1], isKnown: isKnown, isReplayable: isReplayable)] : [])
        }
    }
}

extension WireReply {
    fileprivate var simpler: [WireReply] {
        let plain = WireReply()
        var results: [WireReply] = []
        func add(_ change: (inout WireReply) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { results.append(copy) }
        }
        add { $0.headers = [:] }
        add { $0.fault = nil }
        add { $0.status = 200 }
        add { $0.trailers = [:] }
        add { $0.informational = [] }
        add { $0.pieces = nil }
        add { $0.isPaced = false }
        add { $0.body = plain.body }
        add { $0.framing = .length }
        if case .bytes(let count) = body, count > 1 { add { $0.body = .bytes(count / 2) } }
        if case .chunked(let sizes) = framing, !sizes.isEmpty { add { $0.framing = .chunked([]) } }
        if headers.count > 3 {
            add { $0.headers = HTTPHeaders($0.headers.prefix($0.headers.count / 2)) }
            add { $0.headers = HTTPHeaders($0.headers.suffix($0.headers.count / 2)) }
        }
        for index in headers.indices { add { $0.headers = $0.headers.without(index) } }
        if informational.count > 1 { add { $0.informational = [informational[0]] } }
        if case .resetUpload(let position) = fault, position > 0 { add { $0.fault = .resetUpload(0) } }
        if trailers.count > 1 { for index in trailers.indices { add { $0.trailers = $0.trailers.without(index) } } }
        return results
    }
}

extension HTTPHeaders {
    fileprivate func without(_ index: Int) -> HTTPHeaders {
        HTTPHeaders(enumerated().filter { $0.offset != index }.map(\.element))
    }
}
