// ensemble
