"""What is asked about: short manuals in four languages."""

MANUAL = """# Pump manual

## Safety

Wear gloves whenever the pump is opened. The housing may be hot.

## Changing the filter

Before the filter is changed, close the inlet valve. To change it:

1. Switch the pump off at the wall.
2. Wait until the pressure gauge shows zero.
3. Unscrew the filter cover with the blue key.
4. Put the new cartridge in with its arrow upwards.
5. Screw the cover on and open the inlet valve.

## Data

| Model | Flow l/min | Pressure bar | Mass kg |
| --- | --- | --- | --- |
| P500 | 41 | 5 | 12 |
| P700 | 77 | 7 | 19 |
| P900 | 103 | 9 | 27 |

## Calling the service

Write a message with the serial number:

```
pumpctl report --serial 4711
```

The service answers within two days.
"""
CHINESE = """# 员工手册

## 差旅

国内出差每天补贴一百八十元。住宿费最高每晚四百五十元。

## 年假

工作满一年后有十天年假。未休完的年假可以保留到次年三月。
"""
JAPANESE = """# 勤怠規程

## 在宅勤務

在宅勤務は週二日までとし、前日の正午までに上長へ申請する。

## 残業

月四十五時間を超える残業には部長の承認が必要である。
"""
KOREAN = """# 보안 지침

## 비밀번호

비밀번호는 12자 이상이어야 하며 90일마다 바꾼다.

## 노트북 분실

노트북을 잃어버리면 두 시간 안에 보안팀에 알린다.
"""
