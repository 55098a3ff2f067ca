import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Computes the results of all lanes for a scalar and delivers them. Returns false if reading stopped.
    @inline(never) mutating func settleScalar(
        _ text: Span<UInt8>, _ state: StateIndex, _ kind: UInt8, _ range: Range<Int>, _ depth: Int, _ base: Int
    ) -> Bool {
        guard scalar(text, state, kind, range, depth) else { return false }
        if depth > base {
            let digest = frame.hashes ? valueHash.scalar(text, range) : ValueDigest(hash: 0, length: 0)
            if collector != nil { takeAnnotations(resultTop, range.lowerBound) }
            guard deliver(text, resultTop, range, digest, depth) else { return false }
        }
        return unexplained.isEmpty || explain(text, range, depth)
    }

    mutating func settleName(
        _ text: Span<UInt8>, _ names: TransitionIndex, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let transition = machine.arena.transitions[Int(names)]
        if machine.arena.states[Int(transition.state)].plain & ValueKind.string != 0 { return true }
        guard scalar(text, transition.state, ValueKind.string, range, depth) else { return false }
        for index in transition.firstWire..<transition.firstWire + transition.wireCount {
            let wire = machine.arena.wires[index]
            if machine.results[resultTop + Int(wire.child)] == 0 {
                machine.results[frame.results + Int(wire.parent)] = 0
            }
        }
        return unexplained.isEmpty || explain(text, range, depth)
    }

    /// Computes the results of all lanes for a scalar. They're stored after the results in use, until the next scalar.
    /// Returns false if reading stopped.
    private mutating func scalar(
        _ text: Span<UInt8>, _ state: StateIndex, _ kind: UInt8, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let found = machine.arena.states[Int(state)]
        let (count, firstLane) = (found.laneCount, found.firstLane)
        let start = range.lowerBound
        // Each lane may have to read a long scalar.
        steps -= found.cost &* (1 &+ range.count >> 4)
        if steps < 0 || machine.isFull {
            _ = tooMuch(text, at: start, depth: depth)
            return false
        }
        if resultTop + count > machine.results.count { machine.growResults(resultTop + count) }
        let results = resultTop
        collector?.clear(results..<results + count)
        for index in 0..<count {
            let lane = firstLane &+ index
            var holds = machine.arena.lanes[lane].isPlain(kind) || check(text, lane, kind, range, depth)
            if machine.arena.lanes[lane].gateCount > 0,
                !gatesHold(text, machine.arena.lanes[lane], state, results, isFrame: false, start, depth)
            {
                holds = false
            }
            machine.results[results &+ index] = holds ? 1 : 0
            if collector != nil { annotate(text, index, state, results, isFrame: false, start, depth) }
        }
        return true
    }

    /// Returns whether a scalar fits the lane at an index, apart from its gates. If the lane is hard, reports the
    /// problem.
    private mutating func check(
        _ text: Span<UInt8>, _ lane: Int, _ kind: UInt8, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let isHard = machine.arena.lanes[lane].isHard
        if machine.arena.lanes[lane].kinds & kind == 0 {
            if isHard { mismatch(text, machine.arena.lanes[lane], depth, at: range.lowerBound) }
            return false
        }
        var holds = true
        let (constant, enumeration) = (machine.arena.lanes[lane].constant, machine.arena.lanes[lane].enumeration)
        if constant >= 0, !isConstant(text, constant, kind, range) {
            guard isHard else { return false }
            otherThan(text, constant, machine.arena.lanes[lane], depth, range.lowerBound)
            holds = false
        }
        if enumeration >= 0, !isConstant(text, enumeration, kind, range) {
            guard isHard else { return false }
            otherThan(text, enumeration, machine.arena.lanes[lane], depth, range.lowerBound)
            holds = false
        }
        if kind == ValueKind.string {
            if machine.arena.lanes[lane].string >= 0, !stringFits(text, lane, range, depth) { holds = false }
        } else if kind & ValueKind.number != 0 {
            if !numberFits(text, lane, kind, range, depth) { holds = false }
        }
        return holds
    }

    // MARK: Constants

    private func isConstant(_ text: Span<UInt8>, _ index: Int32, _ kind: UInt8, _ range: Range<Int>) -> Bool {
        let constants = machine.constants[Int(index)]
        switch kind {
        case ValueKind.string:
            let (keys, start) = (constants.keys, range.lowerBound)
            if keys.count == 0 { return false }
            let content = JSONContent(start + 1, range.upperBound - 1)
            if keys.count <= 4, text.count - start > 17 {
                for number in 0..<keys.count where machine.arena.keys.isNext(number, of: keys, text, start + 1) {
                    return true
                }
                // A text with escapes may still equal one of them.
                return content.hasEscapes(in: text) && machine.arena.keys.find(text, content, in: keys) >= 0
            }
            return machine.arena.keys.find(text, content, in: keys) >= 0
        case ValueKind.integer, ValueKind.fraction:
            return constants.kinds & ValueKind.number != 0
                && program.constants[Int(index)].numbers.contains(ExactDecimal(text, range))
        default: return constants.literals & kind != 0
        }
    }
}
