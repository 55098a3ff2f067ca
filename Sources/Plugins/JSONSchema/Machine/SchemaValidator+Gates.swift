import ErrandJSONValidation

extension SchemaValidator {
    /// Returns whether a lane's gates hold, according to the results of their branches. If the lane is hard, reports
    /// the gates that don't hold or adds them to `unexplained`. `isFrame` is `false` for a scalar.
    @inline(never) mutating func gatesHold(
        _ text: Span<UInt8>, of lane: SchemaLane, in state: StateIndex, results: Int, isFrame: Bool, at start: Int,
        depth: Int
    ) -> Bool {
        var holds = true
        let whole = machine.arena.states[Int(state)]
        for gateIndex in 0..<Int(lane.gateCount) {
            let gate = machine.arena.gates[whole.firstGate &+ Int(lane.firstGate) &+ gateIndex]
            let first = whole.firstBranch &+ Int(gate.first)
            let count = Int(gate.count)
            var passes = true
            switch gate.kind {
            case .all:
                for branch in 0..<count where !refersToHolding(first &+ branch, results) { holds = false }
                // If this lane is hard, its branches are hard too, and have already reported their problems.
                continue
            case .any:
                passes = false
                for branch in 0..<count where refersToHolding(first &+ branch, results) {
                    passes = true
                    break
                }
            case .one:
                var found = 0
                for branch in 0..<count where refersToHolding(first &+ branch, results) { found += 1 }
                passes = found == 1
                if found > 1 {
                    holds = false
                    if lane.isHard { several(text, of: lane, gate: gateIndex, found: found, depth: depth, at: start) }
                    continue
                }
            case .not: passes = !refersToHolding(first, results)
            case .condition:
                let isThen = refersToHolding(first, results)
                passes = refersToHolding(first &+ (isThen ? 1 : 2), results)
            case .dependent:
                if isFrame, frame.object >= 0, hasSeen(Int(gate.entry)) {
                    passes = refersToHolding(first, results)
                }
            }
            if passes { continue }
            holds = false
            guard lane.isHard else { return false }
            switch gate.kind {
            case .not: forbidden(text, of: lane, gate: gateIndex, depth: depth, at: start)
            case .condition:
                let isThen = refersToHolding(first, results)
                unexplained.append((lane.node, gateIndex * 4 + (isThen ? 1 : 2)))
            default: unexplained.append((lane.node, gateIndex * 4))
            }
        }
        return holds
    }

    @inline(__always) private func refersToHolding(_ reference: Int, _ results: Int) -> Bool {
        machine.results[results &+ Int(machine.arena.numbers[reference])] != 0
    }

    // MARK: Unevaluated parts

    /// Fails the lane if no other lane evaluates one of its pending parts.
    @inline(never) mutating func checkPending(_ text: Span<UInt8>, _ index: Int, of lane: SchemaLane, depth: Int) {
        let parts = frame.pendingBefore..<pending.count
        steps -= parts.count
        guard parts.contains(where: { pending[$0].fate.lane == index }) else { return }
        if steps < 0 { return }
        let live = liveLanes(index)
        var found: [Int] = []
        for part in parts where pending[part].fate.lane == index {
            if zip(live, pending[part].fate.evaluators).contains(where: { $0 & $1 != 0 }) { continue }
            if let annotations = pending[part].annotations {
                collector?.add(annotations, to: frame.results + index)
                continue
            }
            machine.results[frame.results + index] = 0
            guard lane.isHard else { return }
            found.append(part)
        }
        if !found.isEmpty { unevaluated(text, found.map { pending[$0] }, of: lane, depth: depth) }
    }

    /// Returns the lanes whose annotations a lane of the innermost frame receives, as bits. These lanes hold, and the
    /// receiving lane's schema applies their schemas to the same value.
    private mutating func liveLanes(_ index: Int) -> [UInt64] {
        let state = frame.state
        var live = [UInt64](repeating: 0, count: (machine.arena.states[Int(state)].laneCount + 63) / 64)
        var open = [index]
        while let next = open.popLast() {
            let lane = machine.arena.lane(next, of: state)
            steps -= 1 + Int(lane.gateCount)
            for gateIndex in 0..<Int(lane.gateCount) {
                let gate = machine.arena.gate(gateIndex, of: lane, state)
                steps -= Int(gate.count)
                for lane in liveBranches(gate, in: state, results: frame.results, isFrame: true).map({ Int($0) }) {
                    guard machine.results[frame.results + lane] != 0, live[lane / 64] >> UInt64(lane % 64) & 1 == 0
                    else { continue }
                    live[lane / 64] |= 1 << UInt64(lane % 64)
                    open.append(lane)
                }
            }
        }
        return live
    }

    func liveBranches(_ gate: LaneGate, in state: StateIndex, results: Int, isFrame: Bool) -> [Int32] {
        func branch(_ index: Int) -> Int32 { machine.arena.branch(index, of: gate, state) }
        switch gate.kind {
        case .all, .any, .one: return (0..<Int(gate.count)).map { branch($0) }
        case .not: return []
        case .condition: return machine.results[results + Int(branch(0))] != 0 ? [branch(0), branch(1)] : [branch(2)]
        case .dependent: return isFrame && frame.object >= 0 && hasSeen(Int(gate.entry)) ? [branch(0)] : []
        }
    }
}
