import ErrandJSONValidation

extension SchemaValidator {
    /// Whether the gates of a lane hold, by the results of the lanes that they refer to; what does not hold is explained if
    /// the lane is hard. The frame is that of an array or an object.
    mutating func gatesHold(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ state: StatePointer, _ results: UnsafeMutablePointer<UInt8>,
        _ frame: UnsafeMutablePointer<SchemaFrame>?, _ start: BytePointer, _ depth: Int
    ) -> Bool {
        var holds = true
        for gateIndex in 0..<Int(lane.pointee.gateCount) {
            let gate = state.pointee.gates + Int(lane.pointee.firstGate) + gateIndex
            let branches = state.pointee.branches + Int(gate.pointee.first)
            let count = Int(gate.pointee.count)
            var passes = true
            switch gate.pointee.kind {
            case .all:
                for branch in 0..<count where results[Int(branches[branch])] == 0 { holds = false }
                // Lanes that have to hold report their problems themselves.
                continue
            case .any:
                passes = false
                for branch in 0..<count where results[Int(branches[branch])] != 0 {
                    passes = true
                    break
                }
            case .one:
                var found = 0
                for branch in 0..<count where results[Int(branches[branch])] != 0 { found += 1 }
                passes = found == 1
                if found > 1 {
                    holds = false
                    if lane.pointee.isHard { several(lane.pointee, gateIndex, found, depth, start) }
                    continue
                }
            case .not: passes = results[Int(branches[0])] == 0
            case .condition: passes = results[Int(results[Int(branches[0])] != 0 ? branches[1] : branches[2])] != 0
            case .dependent:
                if let frame, frame.pointee.object != nil, hasSeen(frame, Int(gate.pointee.entry)) {
                    passes = results[Int(branches[0])] != 0
                }
            }
            if passes { continue }
            holds = false
            guard lane.pointee.isHard else { return false }
            switch gate.pointee.kind {
            case .not: forbidden(lane.pointee, gateIndex, depth, start)
            case .condition:
                unexplained.append((lane.pointee.node, gateIndex * 4 + (results[Int(branches[0])] != 0 ? 1 : 2)))
            default: unexplained.append((lane.pointee.node, gateIndex * 4))
            }
        }
        return holds
    }

    // MARK: Unevaluated parts

    /// Whether a lane has a part that it has to treat as unevaluated, and that no other lane evaluates.
    mutating func checkPending(
        _ index: Int, _ lane: UnsafeMutablePointer<SchemaLane>, _ state: StatePointer,
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ results: UnsafeMutablePointer<UInt8>, _ depth: Int
    ) {
        let parts = frame.pointee.pendingBefore..<pending.count
        steps -= parts.count
        guard parts.contains(where: { pending[$0].fate.lane == index }) else { return }
        if steps < 0 { return }
        let live = liveLanes(index, state, results, frame)
        var found: [Int] = []
        for part in parts where pending[part].fate.lane == index {
            if zip(live, pending[part].fate.evaluators).contains(where: { $0 & $1 != 0 }) { continue }
            if let annotations = pending[part].annotations {
                collector?.add(annotations, to: frame.pointee.results + index)
                continue
            }
            results[index] = 0
            guard lane.pointee.isHard else { return }
            found.append(part)
        }
        if !found.isEmpty { unevaluated(found.map { pending[$0] }, lane.pointee, frame, depth) }
    }

    /// The lanes whose annotations reach a lane: those that it applies to the same value, and that hold.
    private mutating func liveLanes(
        _ index: Int, _ state: StatePointer, _ results: UnsafeMutablePointer<UInt8>,
        _ frame: UnsafeMutablePointer<SchemaFrame>
    ) -> [UInt64] {
        var live = [UInt64](repeating: 0, count: (state.pointee.laneCount + 63) / 64)
        var open = [index]
        func visit(_ lane: Int32) {
            let lane = Int(lane)
            guard results[lane] != 0, live[lane / 64] >> UInt64(lane % 64) & 1 == 0 else { return }
            live[lane / 64] |= 1 << UInt64(lane % 64)
            open.append(lane)
        }
        while let next = open.popLast() {
            let lane = state.pointee.lanes + next
            steps -= 1 + Int(lane.pointee.gateCount)
            for gateIndex in 0..<Int(lane.pointee.gateCount) {
                let gate = state.pointee.gates + Int(lane.pointee.firstGate) + gateIndex
                let branches = state.pointee.branches + Int(gate.pointee.first)
                steps -= Int(gate.pointee.count)
                switch gate.pointee.kind {
                case .all, .any, .one: for branch in 0..<Int(gate.pointee.count) { visit(branches[branch]) }
                case .not: break
                case .condition:
                    let holds = results[Int(branches[0])] != 0
                    if holds { visit(branches[0]) }
                    visit(holds ? branches[1] : branches[2])
                case .dependent:
                    if frame.pointee.object != nil, hasSeen(frame, Int(gate.pointee.entry)) { visit(branches[0]) }
                }
            }
        }
        return live
    }
}
