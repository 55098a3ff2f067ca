import ErrandJSONValidation

/// Orders the lanes of a state.
struct StateBuilder {
    let program: SchemaProgram
    let roots: [Int32]

    init(_ program: SchemaProgram, _ roots: [Int32]) { (self.program, self.roots) = (program, roots) }

    func build(_ arena: inout SchemaArena) -> StateIndex {
        let hard = hardNodes()
        var laneNumbers: [Int32: Int32] = [:]
        var lanes: [SchemaLane] = []
        var gates: [LaneGate] = []
        var branches: [Int32] = []
        for node in ordered() {
            laneNumbers[node] = Int32(lanes.count)
            let rule = program.nodes[Int(node)]
            var lane = SchemaLane(node, rule, isHard: hard.contains(node))
            lane.firstGate = Int32(gates.count)
            for gate in rule.gates {
                // Every gate keeps its index, so it can be found in the node.
                let lanesOfGate = gate.nodes.map { laneNumbers[$0] ?? 0 }
                gates.append(
                    LaneGate(
                        kind: gate.kind, first: Int32(branches.count), count: Int32(lanesOfGate.count), tag: gate.tag))
                branches += lanesOfGate
            }
            lane.gateCount = Int32(gates.count) - lane.firstGate
            lanes.append(lane)
        }
        return Self.state(
            lanes, gates, branches, roots: roots.compactMap { laneNumbers[$0 >> 1] }.sorted(), program, &arena)
    }

    static func state(
        _ lanes: [SchemaLane], _ gates: [LaneGate], _ branches: [Int32], roots: [Int32], _ program: SchemaProgram,
        _ arena: inout SchemaArena
    ) -> StateIndex {
        var state = SchemaState(
            firstLane: arena.add(lanes), laneCount: lanes.count, firstGate: arena.add(gates),
            firstBranch: arena.addNumbers(branches), firstRoot: arena.addNumbers(roots), rootCount: roots.count)
        state.cost = lanes.count + branches.count
        state.hasArrays = lanes.contains { $0.array >= 0 }
        state.hasObjects = lanes.contains { lane in
            lane.object >= 0 || program.nodes[Int(lane.node)].gates.contains { $0.kind == .dependent }
        }
        state.wantsHash = lanes.contains { lane in
            [lane.constant, lane.enumeration].contains { $0 >= 0 && !program.constants[Int($0)].composites.isEmpty }
        }
        state.plain = plain(lanes, gates)
        for (index, gate) in gates.enumerated() where gate.tag >= 0 {
            // Prefers the larger gate, because its tag leaves fewer lanes.
            if state.tag >= 0, gate.count <= gates[Int(state.tagGate)].count { continue }
            (state.tag, state.tagGate) = (gate.tag, Int32(index))
        }
        return arena.add(state)
    }

    /// Returns the kinds for which all lanes hold, whatever the value.
    private static func plain(_ lanes: [SchemaLane], _ gates: [LaneGate]) -> UInt8 {
        if gates.contains(where: { $0.kind == .not || $0.kind == .one && $0.count > 1 }) { return 0 }
        var plain: UInt8 = 0
        for bit in 0..<6 {
            let kind: UInt8 = 1 << UInt8(bit)
            if lanes.allSatisfy({ $0.isPlain(kind) }) { plain |= kind }
        }
        return plain
    }

    /// Returns the nodes that must hold: hard roots, and the nodes that they apply unconditionally.
    private func hardNodes() -> Set<Int32> {
        var hard: Set<Int32> = []
        var open = roots.filter { $0 & 1 != 0 }.map { $0 >> 1 }
        while let node = open.popLast() {
            guard hard.insert(node).inserted else { continue }
            for gate in program.nodes[Int(node)].gates where gate.kind == .all { open += gate.nodes }
        }
        return hard
    }

    /// Returns the roots and everything that they apply to the same value, each after the nodes that it depends on.
    private func ordered() -> [Int32] {
        var order: [Int32] = []
        var known: Set<Int32> = []
        for root in roots where known.insert(root >> 1).inserted {
            var way: [(node: Int32, gate: Int, branch: Int)] = [(root >> 1, 0, 0)]
            while let (node, gate, branch) = way.last {
                let gates = program.nodes[Int(node)].gates
                if gate == gates.count {
                    order.append(node)
                    way.removeLast()
                } else if branch == gates[gate].nodes.count {
                    way[way.count - 1] = (node, gate + 1, 0)
                } else {
                    way[way.count - 1].branch += 1
                    let next = gates[gate].nodes[branch]
                    if known.insert(next).inserted { way.append((next, 0, 0)) }
                }
            }
        }
        return order
    }
}
