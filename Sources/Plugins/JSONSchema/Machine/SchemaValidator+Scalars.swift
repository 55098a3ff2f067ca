import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Computes the results of all lanes for a scalar, and delivers them; false if the rest of the text is not read.
    @inline(never) mutating func settleScalar(
        _ state: StatePointer, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int, _ base: Int
    ) -> Bool {
        guard let results = scalar(state, kind, start, p, depth) else { return false }
        if depth > base {
            let frame = machine.frames + depth
            let digest = frame.pointee.hashes ? valueHash.scalar(start, p) : ValueDigest(hash: 0, length: 0)
            if collector != nil { takeAnnotations(results, resultTop, frame, start) }
            guard deliver(results, to: frame, start, p, digest, depth) else { return false }
        }
        return unexplained.isEmpty || explain(start, p, depth)
    }

    /// Computes the results for a key.
    mutating func settleName(
        _ names: TransitionPointer, _ frame: UnsafeMutablePointer<SchemaFrame>, _ start: BytePointer, _ p: BytePointer,
        _ depth: Int
    ) -> Bool {
        let state = names.pointee.state
        if state.pointee.plain & ValueKind.string != 0 { return true }
        guard let results = scalar(state, ValueKind.string, start, p, depth) else { return false }
        for index in 0..<names.pointee.wireCount {
            let wire = names.pointee.wires[index]
            if results[Int(wire.child)] == 0 { machine.results[frame.pointee.results + Int(wire.parent)] = 0 }
        }
        return unexplained.isEmpty || explain(start, p, depth)
    }

    /// The results of all lanes for a scalar, valid until the next ones; nil if the rest of the text is not read.
    private mutating func scalar(
        _ state: StatePointer, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> UnsafeMutablePointer<UInt8>? {
        let count = state.pointee.laneCount
        // Each lane may read a long one.
        steps -= state.pointee.cost &* (1 &+ (p - start) >> 4)
        if steps < 0 || machine.isFull {
            _ = tooMuch(at: start, depth: depth)
            return nil
        }
        if resultTop + count > machine.resultCapacity { machine.growResults(resultTop + count) }
        let results = machine.results + resultTop
        let lanes = state.pointee.lanes
        collector?.clear(resultTop..<resultTop + count)
        for index in 0..<count {
            let lane = lanes + index
            var holds = lane.pointee.isPlain(kind) || check(lane, kind, start, p, depth)
            if lane.pointee.gateCount > 0, !gatesHold(lane, state, results, nil, start, depth) { holds = false }
            results[index] = holds ? 1 : 0
            if collector != nil { annotate(index, state, resultTop, results, nil, start, depth) }
        }
        return results
    }

    /// Whether a scalar fits a lane, without its gates; reports the problem if the lane is hard.
    private mutating func check(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> Bool {
        if lane.pointee.kinds & kind == 0 {
            if lane.pointee.isHard { mismatch(lane.pointee, depth, at: start) }
            return false
        }
        var holds = true
        if lane.pointee.constant >= 0, !isConstant(lane.pointee.constant, kind, start, p) {
            guard lane.pointee.isHard else { return false }
            otherThan(lane.pointee.constant, lane.pointee, depth, start)
            holds = false
        }
        if lane.pointee.enumeration >= 0, !isConstant(lane.pointee.enumeration, kind, start, p) {
            guard lane.pointee.isHard else { return false }
            otherThan(lane.pointee.enumeration, lane.pointee, depth, start)
            holds = false
        }
        if kind == ValueKind.string {
            if lane.pointee.string >= 0, !stringFits(lane, start, p, depth) { holds = false }
        } else if kind & ValueKind.number != 0 {
            if !numberFits(lane, kind, start, p, depth) { holds = false }
        }
        return holds
    }

    // MARK: Constants

    private func isConstant(_ index: Int32, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer) -> Bool {
        let constants = machine.constantChecks + Int(index)
        switch kind {
        case ValueKind.string:
            let keys = constants.pointee.keys
            if keys.count == 0 { return false }
            if keys.count <= 4, end - start > 17 {
                for number in 0..<keys.count where keys.isNext(number, start + 1, end) { return true }
                // A text with escapes may still be one of them.
                let text = JSONText(start: start + 1, end: p - 1)
                return text.hasEscapes && keys.find(text) >= 0
            }
            return keys.find(JSONText(start: start + 1, end: p - 1)) >= 0
        case ValueKind.integer, ValueKind.fraction:
            return constants.pointee.kinds & ValueKind.number != 0
                && program.constants[Int(index)].numbers.contains(ExactDecimal(start, p))
        default: return constants.pointee.literals & kind != 0
        }
    }
}
